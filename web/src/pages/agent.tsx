import type { AgentDetails } from '@roost/contracts/agents/agent'
import { ApiError } from '@roost/contracts/client'
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { ChevronDown, SearchX, Trash2 } from 'lucide-react'
import { type ComponentProps, Suspense, useEffect } from 'react'
import { AgentHeader } from '../features/agents/agent-header.tsx'
import { agentQuery } from '../features/agents/queries.ts'
import { useAgentChanges } from '../features/agents/use-agent-changes.ts'
import { tabGroups } from '../shell/agent-tabs.ts'
import { useApi } from '../shell/app-context.ts'
import { PageHelp } from '../shell/page-help.tsx'
import { Button, buttonClass } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { subTabLinkClass, TabLinks, tabLinkClass } from '../ui/tabs.tsx'
import { Title } from '../ui/title.tsx'
import { type AgentTab, agentTabs } from './agent-tabs.ts'

export const route = createLazyRoute('/signed-in/agents/$name')({ component: AgentPage })

/** One agent: its header and the tabs that the person may see. */
function AgentPage() {
  const { name } = route.useParams()
  const navigate = route.useNavigate()
  const { tab } = route.useSearch()
  const agent = useQuery(agentQuery(useApi(), name))
  const { isDeleted } = useAgentChanges(name, (newName) => {
    void navigate({ params: { name: newName }, search: true, replace: true })
  })
  // The code of the tab loads beside the agent.
  useEffect(() => (agentTabs.find(({ id }) => id === tab) ?? agentTabs[0])?.Content.preload(), [tab])

  if (isDeleted) return <AgentNotFound name={name} wasThere />
  if (isUnknown(agent.error)) return <AgentNotFound name={name} wasThere={agent.data !== undefined} />
  if (agent.data) return <Loaded key={name} agent={agent.data} />
  if (!agent.error) return <Loading />
  return (
    <ErrorState title="Could not load the agent" error={agent.error} onRetry={() => void agent.refetch()} />
  )
}

function Loaded({ agent }: { agent: AgentDetails }) {
  const { tab } = route.useSearch()
  const isOwner = agent.is_owner || agent.can_delete
  const shown = agentTabs.filter(({ who }) => who === 'access' || isOwner)
  const chosen = shown.find(({ id }) => id === tab) ?? shown[0]
  const fillsWindow = chosen?.fills === 'window'
  return (
    // The window sets the height of a tab that fills it, not the content.
    <div className={cx('flex min-w-0 flex-1 flex-col', fillsWindow && 'min-h-96 basis-0!')}>
      <Title of={[agent.label ?? agent.name, chosen?.label]} />
      <AgentHeader agent={agent} help={chosen && <PageHelp guide={chosen.guide} topic={chosen.label} />} />
      {chosen && <AgentNavigation name={agent.name} tabs={shown} chosen={chosen} />}
      <div className={cx('flex min-h-0 min-w-0 flex-1 flex-col', !fillsWindow && 'px-4 pt-5 pb-12 md:px-6')}>
        <Suspense fallback={<TabLoading />}>
          {chosen && <chosen.Content agent={agent} name={agent.name} />}
        </Suspense>
      </div>
    </div>
  )
}

type NavigationProps = { name: string; tabs: readonly AgentTab[]; chosen: AgentTab }

/** Six groups and the tabs of the current one; on phones the groups are a menu beside these tabs. */
function AgentNavigation({ name, tabs, chosen }: NavigationProps) {
  const groups = Object.entries(tabGroups).flatMap(([id, label]) => {
    const own = tabs.filter((tab) => tab.group === id)
    return own[0] ? [{ id, label, tabs: own, first: own[0] }] : []
  })
  const current = groups.find(({ id }) => id === chosen.group)
  return (
    <div className="flex shrink-0 flex-col">
      <TabLinks label={`Sections of ${name}`} className="px-4 max-md:hidden md:px-6">
        {groups.map(({ id, label, first }) => (
          <TabLink
            key={id}
            name={name}
            tab={first.id}
            label={label}
            className={tabLinkClass}
            current={id === chosen.group && 'true'}
          />
        ))}
      </TabLinks>
      <div className="flex min-w-0 items-center border-b pl-3 md:px-4">
        <div className="flex border-r pr-1 md:hidden">
          <Menu
            align="start"
            trigger={
              <Button size="sm" variant="ghost" aria-label={`Section: ${current?.label}`}>
                {current?.label}
                <ChevronDown aria-hidden className="size-3.5" />
              </Button>
            }
            items={groups.flatMap(({ id, label, tabs: own }): MenuItem[] => [
              { heading: label },
              ...own.map((tab) => ({
                element: (
                  <TabLink
                    key={`${id} ${tab.id}`}
                    name={name}
                    tab={tab.id}
                    label={tab.label}
                    className="aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
                    current={tab.id === chosen.id && 'page'}
                  />
                ),
              })),
            ])}
          />
        </div>
        <TabLinks isSecond label={`Tabs of ${name}`} className="px-1">
          {current?.tabs.map((tab) => (
            <TabLink
              key={tab.id}
              name={name}
              tab={tab.id}
              label={tab.label}
              className={subTabLinkClass}
              current={tab.id === chosen.id && 'page'}
            />
          ))}
        </TabLinks>
      </div>
    </div>
  )
}

type TabLinkProps = {
  name: string
  tab: string
  label: string
  className: string
  current: 'page' | 'true' | false
} & Omit<ComponentProps<'a'>, 'href'>

/** Menus pass it their own attributes, so it forwards all others to the link. */
function TabLink({ name, tab, label, current, ...link }: TabLinkProps) {
  return (
    <Link {...link} to="/agents/$name" params={{ name }} search={{ tab }} aria-current={current || undefined}>
      {label}
    </Link>
  )
}

function isUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.body?.error === 'agent_not_found'
}

/** The API answers 404 for a hidden agent as well, so the text covers both cases. */
function AgentNotFound({ name, wasThere }: { name: string; wasThere: boolean }) {
  return (
    <div className="grid flex-1 place-items-center">
      <EmptyState
        isPage
        icon={wasThere ? <Trash2 aria-hidden /> : <SearchX aria-hidden />}
        title={wasThere ? `${name} is no longer available` : `Agent “${name}” not found`}
        description={
          wasThere
            ? 'The agent was deleted or is no longer shared with you.'
            : 'The agent may have been renamed or deleted, or is not shared with you.'
        }
        action={
          <Link to="/agents" className={buttonClass()}>
            Go to agents
          </Link>
        }
      />
    </div>
  )
}

function Loading() {
  return (
    <div role="status" aria-label="Loading agent" className="flex flex-col gap-4 p-4 md:px-6">
      <div className="flex items-center gap-3">
        <Skeleton className="size-9 rounded-md" />
        <Skeleton className="h-6 w-48" />
      </div>
      <Skeleton className="h-9" />
      <TabLoading />
    </div>
  )
}

function TabLoading() {
  return (
    <div aria-hidden className="flex flex-col gap-3 p-4 md:px-6">
      <Skeleton className="h-5 w-2/3" />
      <Skeleton className="h-5 w-1/2" />
      <Skeleton className="h-40" />
    </div>
  )
}
