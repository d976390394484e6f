import { deleteGitToken, type GitTokenStatus, putGitToken } from '@roost/contracts/identity/git-token'
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { ownGitTokenQuery } from './queries.ts'
import { TokenControls } from './token-controls.tsx'

/** The user's own token for the git host, for those of their agents that have no token. */
export function OwnTokenSection() {
  const { api, queries } = useApp()
  const query = ownGitTokenQuery(api)
  const token = useQuery(query)
  const onReply = (status: GitToken, title: string) => {
    queries.setQueryData(query.queryKey, status)
    // The agents' pages show whose token is used.
    void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[2] === 'git' })
    toast({ title, tone: 'success' })
  }
  return (
    <Section
      title="Git token"
      description="A token for the git host, used by your agents that have no token of their own. It is never shown again."
    >
      {token.data ? (
        <TokenControls
          state={wordsOf(token.data)}
          isSet={token.data.configured}
          setLabel="Set token"
          setting={{
            title: 'Your git token',
            description: 'The platform stores the token and adds it to the git requests of your agents.',
            action: 'Save token',
          }}
          deletion={{
            title: 'Delete your git token?',
            description: token.data.has_global
              ? 'Your agents without a token of their own then use the platform’s token. This cannot be undone.'
              : 'Your agents without a token of their own can then read only public repositories. This cannot be undone.',
          }}
          onSet={async (body) => onReply(await api.call(putGitToken, { body }), 'Git token saved.')}
          onDelete={async () => onReply(await api.call(deleteGitToken, {}), 'Git token deleted.')}
        />
      ) : token.error ? (
        <ErrorState error={token.error} onRetry={() => void token.refetch()} className="py-4" />
      ) : (
        <Skeleton className="h-8" />
      )}
    </Section>
  )
}

type GitToken = z.output<typeof GitTokenStatus>

function wordsOf({ configured, username, has_global }: GitToken): string {
  if (configured) return username ? `Token of ${username}.` : 'Token set.'
  return has_global ? 'No token. The platform’s token is used.' : 'No token.'
}
