import { Outlet } from '@tanstack/react-router'
import { Toaster } from '../ui/toast.tsx'

/** Around every page, signed in or not. */
export function Root() {
  return (
    <>
      <Outlet />
      <Toaster />
    </>
  )
}
