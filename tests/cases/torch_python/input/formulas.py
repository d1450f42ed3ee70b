def scatter(grad, indices, shape):
    return grad.new_zeros(shape).scatter(0, indices, grad)
