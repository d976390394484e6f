import {
  confirmFactorLoginEnrolment,
  startFactorLoginEnrolment,
  verifyFactorLogin,
} from '@roost/contracts/identity/second-factor'
import { type RequestFacts, type Route, route } from '../../http/route.ts'
import type { Sessions } from './service.ts'

/** Records whose sign-in it is, also when it fails: only admins read the audit log. */
const noteOf = (request: RequestFacts) => (username: string) => request.note({ username })

/** The second step of a sign-in: a challenge token is all that comes in, and it opens nothing else. */
export function secondStepRoutes({ secondStep }: Pick<Sessions, 'secondStep'>): Route[] {
  return [
    route(verifyFactorLogin, async ({ body, request }) => {
      const reply = await secondStep.finish(body.challenge_token, body.code, noteOf(request))
      request.actedBy(reply.user)
      return reply
    }),
    route(startFactorLoginEnrolment, ({ body, request }) =>
      secondStep.startEnrolment(body.challenge_token, noteOf(request)),
    ),
    route(confirmFactorLoginEnrolment, async ({ body, request }) => {
      const reply = await secondStep.finishEnrolment(body.challenge_token, body.code, noteOf(request))
      request.actedBy(reply.user)
      return reply
    }),
  ]
}
