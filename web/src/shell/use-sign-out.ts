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
        if (localStorage.getItem('roost.push') !== null) endNotifications()
        session.end()
        void navigate({ to: '/login', search: {} })
      })
  }
}

/** The platform has deleted this device with the session; the browser ends its subscription too. */
function endNotifications(): void {
  void import('../features/push/device.ts').then(({ forgetDevice }) => forgetDevice()).catch(() => {})
}
