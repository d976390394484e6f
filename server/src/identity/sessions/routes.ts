import {
  confirmFactorLoginEnrolment,
  startFactorLoginEnrolment,
  verifyFactorLogin,
} from '@roost/contracts/identity/second-factor'
import { createToken, logout, validateToken } from '@roost/contracts/identity/sessions'
import { getSetupStatus, setAdminPassword } from '@roost/contracts/identity/setup'
import { setMyPassword } from '@roost/contracts/identity/users'
import {
  type Answer,
  answer,
  originOf,
  type RequestInfo,
  type Route,
  route,
  signedInRoute,
} from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import { accountSubject, type Devices } from '../devices/index.ts'
import type { Sessions } from './service.ts'

export function sessionRoutes(sessions: Sessions, devices: Pick<Devices, 'remember'>): Route[] {
  return [
    route(getSetupStatus, () => sessions.setupStatus()),
    route(
      setAdminPassword,
      async ({ body, request }) => {
        const { userId } = await sessions.setUp(body, request.ip)
        const email = body.email ?? null
        request.actedBy({ id: userId, email })
        return { success: true as const, email_registered: email !== null }
      },
      {
        admit: async () => {
          if ((await sessions.setupStatus()).setup_completed) throw new Fault('setup_completed')
        },
      },
    ),
    route(createToken, async ({ body, request }) => {
      const onAccount = (username: string) => request.note({ username })
      const { user, ...token } = await sessions.signIn({ ...body, ...originOf(request), onAccount })
      request.actedBy(user)
      return answer(token, knownDevice(devices, user.id, request))
    }),
    signedInRoute(validateToken, async ({ caller }) => ({
      status: 'valid' as const,
      ...(await sessions.describe(caller)),
      ...(caller.kind === 'key' ? { scope: caller.key.scope } : {}),
    })),
    signedInRoute(logout, async ({ caller }) => {
      await sessions.logout(caller)
      return { status: 'logged_out' as const }
    }),
    signedInRoute(setMyPassword, async ({ caller, body, request }) => {
      await sessions.changePassword(
        caller,
        { current: body.current_password, next: body.new_password },
        originOf(request),
      )
      return { success: true as const }
    }),
    ...secondStepRoutes(sessions, devices),
  ]
}

/** The headers of a completed sign-in, which mark the browser as known to the account. */
export function knownDevice(
  devices: Pick<Devices, 'remember'>,
  userId: string,
  request: RequestInfo,
): Pick<Answer, 'headers'> {
  return { headers: { 'set-cookie': devices.remember(accountSubject(userId), originOf(request)) } }
}

/** Records the user name even for a failed sign-in: only admins read the audit log. */
const noteOf = (request: RequestInfo) => (username: string) => request.note({ username })

/** The second step of a sign-in. These routes accept only a challenge token. */
function secondStepRoutes(
  { secondStep }: Pick<Sessions, 'secondStep'>,
  devices: Pick<Devices, 'remember'>,
): Route[] {
  const answererOf = (request: RequestInfo) => ({ origin: originOf(request), onAccount: noteOf(request) })
  return [
    route(verifyFactorLogin, async ({ body, request }) => {
      const reply = await secondStep.finish(body.challenge_token, body.code, answererOf(request))
      request.actedBy(reply.user)
      return answer(reply, knownDevice(devices, reply.user.id, request))
    }),
    route(startFactorLoginEnrolment, ({ body, request }) =>
      secondStep.startEnrolment(body.challenge_token, noteOf(request)),
    ),
    route(confirmFactorLoginEnrolment, async ({ body, request }) => {
      const reply = await secondStep.finishEnrolment(body.challenge_token, body.code, answererOf(request))
      request.actedBy(reply.user)
      return answer(reply, knownDevice(devices, reply.user.id, request))
    }),
  ]
}
