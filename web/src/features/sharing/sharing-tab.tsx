import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { AccessList } from './access-list.tsx'
import { accessQuery } from './queries.ts'
import { ShareForm } from './share-form.tsx'
import { SharedMay } from './shared-may.tsx'

const PublicLinks = lazyPart(
  async () => (await import('../public-links/public-links-panel.tsx')).PublicLinksPanel,
)

const SlackChannel = lazyPart(async () => (await import('../slack/channel-panel.tsx')).SlackChannelPanel)

/** With whom an agent is shared, and what they may do with it. */
export function SharingTab({ agent }: { agent: AgentDetails }) {
  const access = useQuery(accessQuery(useApi(), agent.name))
  return (
    <div className="max-w-4xl">
      <Section
        title="People"
        description="Whoever is on this list finds the agent on the dashboard as soon as they sign in."
      >
        {agent.is_system ? (
          <Banner title="The system agent is shared with nobody.">
            It may do everything on this platform, so it belongs to admins alone.
          </Banner>
        ) : (
          <ShareForm name={agent.name} />
        )}
        {access.isError && !access.data ? (
          <ErrorState
            title="The list could not be loaded"
            error={access.error}
            onRetry={() => void access.refetch()}
            className="rounded-lg border border-line bg-surface"
          />
        ) : access.data ? (
          <AccessList name={agent.name} people={access.data} />
        ) : (
          <Skeleton className="h-28" />
        )}
      </Section>
      {!agent.is_system && (
        <Section
          title="Public links"
          description="Pages on which people without an account talk with this agent."
        >
          <PublicLinks name={agent.name} />
        </Section>
      )}
      {!agent.is_system && (
        <Section title="Slack" description="A channel in which everybody talks with this agent.">
          <SlackChannel name={agent.name} />
        </Section>
      )}
      <Section title="What they may do" description="The same for everybody an agent is shared with.">
        <SharedMay />
      </Section>
    </div>
  )
}
