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
  agent: 'The agent’s own token.',
  user: 'The token of the owner’s account.',
  platform: 'The platform’s token.',
  none: 'No token. Only public repositories can be read, and nothing can be pushed.',
}

/** The token with which the agent reads and writes its repository. */
export function TokenSection({ name }: { name: string }) {
  const token = useQuery(gitTokenQuery(useApi(), name))
  const set = useSetToken(name)
  const forget = useForgetToken(name)
  return (
    <Section
      title="Git token"
      description="A token for the git host. The platform stores it, adds it to git requests and never shows it again."
    >
      {token.data ? (
        <TokenControls
          state={sources[token.data.source]}
          isSet={token.data.configured}
          setLabel="Set agent token"
          setting={{
            title: 'Agent token',
            description: 'Roost verifies the token with the git host before saving it.',
            action: 'Verify and save',
          }}
          deletion={{
            title: 'Delete the agent’s own token?',
            description:
              'The token of the owner’s account or of the platform is used instead. This cannot be undone.',
          }}
          onSet={set}
          onDelete={forget}
        />
      ) : token.error ? (
        <ErrorState error={token.error} onRetry={() => void token.refetch()} className="py-4" />
      ) : (
        <Skeleton className="h-8" />
      )}
    </Section>
  )
}
