import type { AgentRow } from '@roost/contracts/agents/agent'
import type { User } from '@roost/contracts/identity/users'
import { type AgentTabId, agentTabPlaces } from '../agent-tabs.ts'
import type { Place } from '../navigation.ts'
import type { Theme } from '../theme.ts'
import { allPlaces, placeWords, tabWords } from './places.ts'
import type { Searchable } from './rank.ts'

/** What Enter does. `apart` opens a new browser tab; `narrow` replaces the typed text. */
export type Act =
  | { do: 'go' | 'apart'; href: string }
  | { do: 'narrow'; text: string }
  | { do: 'start' | 'stop' | 'fork' | 'delete'; agent: string }
  | { do: 'theme'; theme: Theme }
  | { do: 'sign-out' | 'help' | 'pause-schedules' | 'resume-schedules' }

export type EntryKind = 'Agent' | 'Agent tab' | 'Page' | 'Action'

/** One command of the palette. */
export type Entry = Searchable & {
  /** Also the stored name of a recent item. */
  id: string
  kind: EntryKind
  icon: Icon
  /** Beside the title, in small type. */
  detail?: string
  /** Shown at the end; pressed one after the other. */
  keys?: readonly string[]
  act: Act
}

export type Icon =
  | { place: Place['label'] }
  | { tab: AgentTabId }
  | 'agent'
  | 'create'
  | 'start'
  | 'stop'
  | 'fork'
  | 'delete'
  | 'schedule'
  | 'pause'
  | 'emergency'
  | 'light'
  | 'dark'
  | 'system'
  | 'sign-out'
  | 'help'
  | 'book'

export type EntryInput = {
  me: Pick<User, 'role'>
  agents: readonly PaletteAgent[]
  /** The agent whose page is shown: its commands come first. */
  current: string | null
}
export type PaletteAgent = Pick<AgentRow, 'name' | 'label' | 'status' | 'is_owner' | 'is_system'>

export function entriesOf({ me, agents, current }: EntryInput): Entry[] {
  return [
    ...pages(me),
    ...actions({ me, agents, current }),
    ...agents.flatMap((agent) => ofAgent(agent, me, agent.name === current)),
  ]
}

function pages(me: EntryInput['me']): Entry[] {
  return [
    ...allPlaces(me).map((place): Entry => {
      const { label, key } = place
      return {
        id: `page ${label}`,
        kind: 'Page',
        title: label,
        icon: { place: label },
        bias: 0.02,
        ...placeWords[label],
        ...(key === undefined ? {} : { keys: ['G', key.toUpperCase()] }),
        act: { do: 'go', href: hrefOf(place) },
      }
    }),
    {
      id: 'page Guides',
      kind: 'Page',
      title: 'Guides',
      also: ['Help', 'How to'],
      keywords: ['tutorial', 'learn'],
      icon: 'help',
      act: { do: 'apart', href: '/help' },
    },
    {
      id: 'page API reference',
      kind: 'Page',
      title: 'API reference',
      also: ['Swagger', 'OpenAPI', 'API docs'],
      keywords: ['rest', 'endpoints', 'http'],
      icon: 'book',
      act: { do: 'apart', href: '/docs' },
    },
  ]
}

function hrefOf({ to, search }: Place): string {
  return search ? `${to}?${new URLSearchParams(search)}` : to
}

function actions({ me, agents, current }: EntryInput): Entry[] {
  const isAdmin = me.role === 'admin'
  const action = (id: string, entry: Omit<Entry, 'id' | 'kind'>): Entry => ({
    id: `action ${id}`,
    kind: 'Action',
    bias: 0.015,
    ...entry,
  })
  const theme = (value: Theme, title: string, also: string[]) =>
    action(`theme ${value}`, { title, also, icon: value, act: { do: 'theme', theme: value } })
  const ofAny = (
    id: 'start' | 'stop' | 'schedule',
    entry: { title: string; keywords: string[]; text: string },
  ) => action(`any ${id}`, { ...entry, icon: id, act: { do: 'narrow', text: entry.text } })
  const mine = agents.find(({ name }) => name === current) ?? (agents.length === 1 ? agents[0] : undefined)
  const others = agents.filter(({ is_system: isSystem }) => !isSystem)
  return [
    ...(mayCreate(me)
      ? [
          action('create', {
            title: 'Create agent',
            keywords: ['template', 'deploy', 'container'],
            icon: 'create',
            act: { do: 'go', href: '/agents?create=true' },
          }),
        ]
      : []),
    ...(mine
      ? [action('schedule', { ...newSchedule(mine.name), detail: mine.label ?? mine.name })]
      : others.length > 0
        ? [
            ofAny('schedule', {
              title: 'New schedule…',
              keywords: ['agent', 'task'],
              text: 'new schedule for ',
            }),
          ]
        : []),
    ...(others.some(isRunning)
      ? [ofAny('stop', { title: 'Stop agent…', keywords: ['off'], text: 'stop ' })]
      : []),
    ...(others.some((agent) => !isRunning(agent))
      ? [ofAny('start', { title: 'Start agent…', keywords: ['on'], text: 'start ' })]
      : []),
    ...(isAdmin
      ? [
          action('pause', {
            title: 'Pause all schedules…',
            icon: 'pause',
            act: { do: 'pause-schedules' },
          }),
          action('resume', { title: 'Resume all schedules', icon: 'start', act: { do: 'resume-schedules' } }),
          action('emergency', {
            title: 'Emergency stop…',
            also: ['Stop everything', 'Stop all agents', 'Panic'],
            icon: 'emergency',
            act: { do: 'go', href: '/agents?tab=health' },
          }),
        ]
      : []),
    theme('light', 'Light theme', ['Day mode', 'White theme']),
    theme('dark', 'Dark theme', ['Night mode', 'Black theme']),
    theme('system', 'System theme', ['Automatic theme', 'Auto mode']),
    action('help', {
      title: 'Keyboard shortcuts',
      also: ['Help for this page', 'Hotkeys', 'Key bindings'],
      keywords: ['keys', 'guide'],
      keys: ['?'],
      icon: 'help',
      act: { do: 'help' },
    }),
    action('sign-out', {
      title: 'Sign out',
      also: ['Log out', 'Log off', 'Sign off', 'Leave', 'Quit', 'Exit', 'End session'],
      icon: 'sign-out',
      act: { do: 'sign-out' },
    }),
  ]
}

const isRunning = ({ status }: PaletteAgent) => status === 'running'

const newSchedule = (name: string) =>
  ({
    title: 'New schedule',
    icon: 'schedule',
    act: { do: 'go', href: `${agentHref(name)}?tab=schedules&create=true` },
  }) as const

function agentHref(name: string): string {
  return `/agents/${encodeURIComponent(name)}`
}

/** The agent, what can be done with it, and its tabs. Like its page: everybody with access starts and stops it. */
function mayCreate({ role }: EntryInput['me']): boolean {
  return role === 'admin' || role === 'creator'
}

function ofAgent(agent: PaletteAgent, me: EntryInput['me'], isCurrent: boolean): Entry[] {
  const { name, label } = agent
  const title = label ?? name
  const mayEdit = agent.is_owner || me.role === 'admin'
  // Both names find the agent when it has a label.
  const named = (phrase: (as: string) => string) => (label === null ? [] : [phrase(name)])
  // On the agent's own page its name is understood.
  const unnamed = (phrase: string) => (isCurrent ? [phrase] : [])
  const shared = { keywords: ['agent', name], ...(label === null ? {} : { detail: name }) }
  const action = (
    id: string,
    verb: (as: string) => string,
    entry: { icon: Icon; also?: string[]; act: Act },
  ): Entry => ({
    id: `${id} ${name}`,
    kind: 'Action',
    title: verb(title),
    bias: 0.01,
    ...shared,
    icon: entry.icon,
    act: entry.act,
    also: [
      ...named(verb),
      ...unnamed(verb('')),
      ...(entry.also ?? []).flatMap((also) => [title, ...named(String)].map((as) => `${also} ${as}`)),
    ],
  })
  return [
    {
      id: `agent ${name}`,
      kind: 'Agent',
      title,
      also: named(String),
      bias: 0.03,
      ...shared,
      icon: 'agent',
      act: { do: 'go', href: agentHref(name) },
    },
    isRunning(agent)
      ? action('stop', (as) => `Stop ${as}`, {
          icon: 'stop',
          also: ['shut down', 'turn off', 'switch off', 'power off'],
          act: { do: 'stop', agent: name },
        })
      : action('start', (as) => `Start ${as}`, {
          icon: 'start',
          also: ['turn on', 'switch on', 'power on'],
          act: { do: 'start', agent: name },
        }),
    action('schedule', (as) => `New schedule for ${as}`, { icon: 'schedule', act: newSchedule(name).act }),
    ...(mayEdit && mayCreate(me) && !agent.is_system
      ? [
          action('fork', (as) => `Fork ${as}…`, {
            icon: 'fork',
            also: ['copy', 'duplicate', 'clone'],
            act: { do: 'fork', agent: name },
          }),
        ]
      : []),
    ...(mayEdit && !agent.is_system
      ? [action('delete', (as) => `Delete ${as}…`, { icon: 'delete', act: { do: 'delete', agent: name } })]
      : []),
    ...agentTabPlaces
      .filter(({ who }) => who === 'access' || mayEdit)
      .map(
        (tab): Entry => ({
          id: `tab ${name} ${tab.id}`,
          kind: 'Agent tab',
          title: `${title} › ${tab.label}`,
          also: [...named((as) => `${as} ${tab.label}`), ...unnamed(tab.label)],
          ...shared,
          keywords: [...shared.keywords, ...(tabWords[tab.id] ?? [])],
          icon: { tab: tab.id },
          act: { do: 'go', href: `${agentHref(name)}?tab=${tab.id}` },
        }),
      ),
  ]
}

/** A command that asks for more text is not offered again when the text is there. */
export function isOffered({ act }: Entry, text: string): boolean {
  return act.do !== 'narrow' || text !== act.text
}
