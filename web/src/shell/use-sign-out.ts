import { logout } from '@roost/contracts/identity/sessions'
import { useNavigate } from '@tanstack/react-router'
import { useApp } from './app-context.ts'

/** Ends the session in this browser even when the request to the platform fails. */
export function useSignOut(): () => void {
  const { api, session } = useApp()
  const navigate = useNavigate()
  return () => {
    void api
      .call(logout, {})
      .catch(() => {})
      .finally(() => {
        session.end()
        void navigate({ to: '/login', search: {} })
      })
  }
}
