import { Outlet } from '@tanstack/react-router'
import { Toaster } from '../ui/toast.tsx'

/** Wraps every page, signed in or not. */
export function Root() {
  return (
    <>
      <Outlet />
      <Toaster />
    </>
  )
}
