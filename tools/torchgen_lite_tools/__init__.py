"""Commands that read what others wrote: libraries to move over, backends of PyTorch, files in editors."""
