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

/** The person's own token for the git host, for those of their agents that have none. */
export function OwnTokenSection() {
  const { api, queries } = useApp()
  const query = ownGitTokenQuery(api)
  const token = useQuery(query)
  const told = (status: GitToken, title: string) => {
    queries.setQueryData(query.queryKey, status)
    // The agents' own pages say whose token is used.
    void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[2] === 'git' })
    toast({ title, tone: 'success' })
  }
  return (
    <Section
      title="Git token"
      description="For the git host, for your agents that have none of their own. It is never shown again."
    >
      {token.data ? (
        <TokenControls
          state={wordsOf(token.data)}
          isSet={token.data.configured}
          setLabel="Set a token"
          setting={{
            title: 'Your token for the git host',
            description: 'It stays in the platform, which hands it to git for each call of your agents.',
            action: 'Store the token',
          }}
          forgetting={{
            title: 'Forget your token for the git host?',
            description: token.data.has_global
              ? 'From then on your agents without a token of their own use the platform’s. This cannot be undone.'
              : 'From then on your agents without a token of their own read only what is open to everybody. This cannot be undone.',
          }}
          onSet={async (body) => told(await api.call(putGitToken, { body }), 'Your token is stored.')}
          onForget={async () => told(await api.call(deleteGitToken, {}), 'Your token is forgotten.')}
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
  if (configured) return username ? `The token of ${username}.` : 'A token is stored.'
  return has_global ? 'None: the platform’s token is used.' : 'None.'
}
