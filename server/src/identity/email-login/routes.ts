import { requestAccess, requestEmailCode, verifyEmailCode } from '@roost/contracts/identity/email-login'
import { getAuthMode } from '@roost/contracts/identity/sessions'
import { answer, originOf, type Route, route } from '../../http/route.ts'
import type { Devices } from '../devices/index.ts'
import { knownDevice, type Sessions } from '../sessions/index.ts'
import type { EmailLogin } from './service.ts'

export function emailLoginRoutes(
  login: EmailLogin,
  sessions: Pick<Sessions, 'setupStatus'>,
  devices: Pick<Devices, 'remember'>,
): Route[] {
  return [
    route(getAuthMode, async () => {
      const { emailLogin, accessRequests } = login.methods()
      return {
        email_auth_enabled: emailLogin,
        setup_completed: (await sessions.setupStatus()).setup_completed,
        public_access_requests_enabled: accessRequests,
      }
    }),
    route(requestEmailCode, async ({ body, request }) => {
      request.note({ email: body.email })
      await login.requestCode({ email: body.email, ...originOf(request) })
      return {
        success: true as const,
        message: 'If this address may sign in, a code is on its way to it.',
      }
    }),
    route(verifyEmailCode, async ({ body, request }) => {
      request.note({ email: body.email })
      const outcome = await login.verify({ ...body, ...originOf(request) })
      if ('challenge' in outcome) {
        request.note({ mfa_required: true })
        return outcome.challenge
      }
      const { session } = outcome
      request.note({ username: session.user.username })
      request.actedBy(session.user)
      return answer(session, knownDevice(devices, session.user.id, request))
    }),
    route(requestAccess, async ({ body, request }) => {
      request.note({ email: body.email })
      const { alreadyRegistered } = await login.requestAccess({ email: body.email, ip: request.ip })
      return {
        success: true as const,
        message: 'This address may sign in now.',
        already_registered: alreadyRegistered,
      }
    }),
  ]
}
