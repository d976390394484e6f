import type { AgentGitTokenStatus } from '@roost/contracts/agents/git-repository'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useForgetToken, useSetToken } from './binding-actions.ts'
import { gitTokenQuery } from './queries.ts'
import { TokenControls } from './token-controls.tsx'

const sources: Record<AgentGitTokenStatus['source'], string> = {
  agent: 'A token of its own.',
  user: 'The token of its owner’s account.',
  platform: 'The platform’s token.',
  none: 'None: only what is open to everybody can be read, and nothing is pushed.',
}

/** With whose token the agent reads and writes its repository. */
export function TokenSection({ name }: { name: string }) {
  const token = useQuery(gitTokenQuery(useApi(), name))
  const set = useSetToken(name)
  const forget = useForgetToken(name)
  return (
    <Section
      title="Token"
      description="For the git host. It stays in the platform, is handed to git for each call, and is never shown again."
    >
      {token.data ? (
        <TokenControls
          state={sources[token.data.source]}
          isSet={token.data.configured}
          setLabel="Set a token of its own"
          setting={{
            title: 'A token of the agent’s own',
            description: 'The git host is asked about it before it is stored.',
            action: 'Check and store',
          }}
          forgetting={{
            title: 'Forget the agent’s own token?',
            description:
              'From then on the token of its owner’s account is used, or the platform’s. This cannot be undone.',
          }}
          onSet={set}
          onForget={forget}
        />
      ) : token.error ? (
        <ErrorState error={token.error} onRetry={() => void token.refetch()} className="py-4" />
      ) : (
        <Skeleton className="h-8" />
      )}
    </Section>
  )
}
