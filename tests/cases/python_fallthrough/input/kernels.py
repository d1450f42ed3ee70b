def scale_cpu(self, s):
    return self
