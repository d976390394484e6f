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
import { StrangersSetting } from './strangers-setting.tsx'
import { UserPermissions } from './user-permissions.tsx'

const PublicLinks = lazyPart(
  async () => (await import('../public-links/public-links-panel.tsx')).PublicLinksPanel,
)

const SlackChannel = lazyPart(async () => (await import('../slack/channel-panel.tsx')).SlackChannelPanel)

/** Who has access to the agent, and what they may do. */
export function SharingTab({ agent }: { agent: AgentDetails }) {
  const access = useQuery(accessQuery(useApi(), agent.name))
  return (
    <div className="max-w-4xl">
      <Section title="Sharing" description="These users see the agent in their list of agents.">
        {agent.is_system ? (
          <Banner title="The system agent cannot be shared.">
            It has admin permissions, so only admins have access to it.
          </Banner>
        ) : (
          <ShareForm name={agent.name} />
        )}
        {access.isError && !access.data ? (
          <ErrorState
            title="Could not load the users with access"
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
          description="Pages where people without an account can chat with this agent."
        >
          <PublicLinks name={agent.name} />
        </Section>
      )}
      {!agent.is_system && (
        <Section
          title="Strangers and files"
          description="What the agent may do with its workspace when it answers visitors of public links, payers and people in Slack. It never reads files with credentials for them."
        >
          <StrangersSetting name={agent.name} />
        </Section>
      )}
      {!agent.is_system && (
        <Section title="Slack" description="A Slack channel where everyone can chat with this agent.">
          <SlackChannel name={agent.name} />
        </Section>
      )}
      <Section title="Permissions of users" description="What users may do that the agent is shared with.">
        <UserPermissions />
      </Section>
    </div>
  )
}
