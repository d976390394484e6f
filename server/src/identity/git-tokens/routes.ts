import { deleteGitToken, getGitToken, putGitToken } from '@roost/contracts/identity/git-token'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { GitTokens } from './service.ts'

export function gitTokenRoutes(tokens: GitTokens): Route[] {
  const status = async (userId: string) => ({
    configured: await tokens.isConfigured(userId),
    username: null,
    has_global: tokens.hasGlobal(),
  })
  return [
    signedInRoute(getGitToken, ({ caller }) => status(caller.user.id)),
    signedInRoute(putGitToken, async ({ caller, body }) => {
      await tokens.put(caller.user.id, body.pat)
      return status(caller.user.id)
    }),
    signedInRoute(deleteGitToken, async ({ caller }) => {
      await tokens.remove(caller.user.id)
      return status(caller.user.id)
    }),
  ]
}
