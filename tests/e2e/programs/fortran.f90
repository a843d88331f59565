! Fortran as Python calls it. At -O1 gfortran inlines what is private and called
! once, `step`, and nothing else.
module known
  use iso_c_binding
  implicit none
  private
  public :: heavy
  abstract interface
    subroutine callback() bind(c)
    end subroutine
  end interface
contains
  real(c_double) function step(x)
    real(c_double), intent(in) :: x
    step = x + 1d0 / x ! line: step
  end function

  subroutine heavy(rounds, total)
    integer(c_long), intent(in) :: rounds
    real(c_double), intent(inout) :: total
    integer(c_long) :: i
    do i = 1, rounds
      total = step(total) ! line: inlined
    end do
  end subroutine

  subroutine spend(rounds, back, total) bind(c, name="known_spend")
    integer(c_long), value :: rounds
    type(c_funptr), value :: back
    real(c_double), intent(inout) :: total
    procedure(callback), pointer :: python
    call c_f_procpointer(back, python)
    call heavy(rounds, total) ! line: heavy
    call around()
    call around()
  contains
    subroutine around()
      call python()
      call plain(rounds, total) ! line: plain
    end subroutine
  end subroutine
end module

subroutine plain(rounds, total)
  use iso_c_binding
  integer(c_long), intent(in) :: rounds
  real(c_double), intent(inout) :: total
  integer(c_long) :: i
  do i = 1, rounds
    total = total + 1d0 / total
  end do
end subroutine
