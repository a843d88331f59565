# cython: language_level=3
"""What Cython makes of loops, classes and calls back into Python."""
import time


cdef unsigned long long churn(unsigned long long x, int turns) noexcept:
    cdef int i
    for i in range(turns):
        x = x * 6364136223846793005ULL + 1442695040888963407ULL
    return x


cdef class Worker:
    cdef unsigned long long state

    def __init__(self):
        self.state = 11

    cpdef burn(self, double seconds):
        cdef double end = time.time() + seconds
        while time.time() < end:
            self.state = churn(self.state, 20000)
        return self.state & 1

    def call(self, function, n):
        return [function(k) for k in range(n)]
