import {
  confirmFactorLoginEnrolment,
  startFactorLoginEnrolment,
  verifyFactorLogin,
} from '@roost/contracts/identity/second-factor'
import { type Route, route } from '../../http/route.ts'
import type { Sessions } from './service.ts'

/** The second step of a sign-in: a challenge token is all that comes in, and it opens nothing else. */
export function secondStepRoutes({ secondStep }: Pick<Sessions, 'secondStep'>): Route[] {
  return [
    route(verifyFactorLogin, async ({ body, request }) => {
      const reply = await secondStep.finish(body.challenge_token, body.code)
      request.note({ username: reply.user.username })
      return reply
    }),
    route(startFactorLoginEnrolment, ({ body }) => secondStep.startEnrolment(body.challenge_token)),
    route(confirmFactorLoginEnrolment, async ({ body, request }) => {
      const reply = await secondStep.finishEnrolment(body.challenge_token, body.code)
      request.note({ username: reply.user.username })
      return reply
    }),
  ]
}
