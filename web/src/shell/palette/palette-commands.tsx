import type { User } from '@roost/contracts/identity/users'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { History, MessageSquare } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, type ReactNode, useMemo, useState } from 'react'
import { agentsQuery } from '../../features/agents/queries.ts'
import { Kbd } from '../../ui/kbd.tsx'
import { useStoredState } from '../../ui/use-stored-state.ts'
import { useApi } from '../app-context.ts'
import { currentAgent } from './current-agent.ts'
import { type Act, type Entry, entriesOf, isOffered } from './entries.ts'
import { iconOf } from './entry-icons.ts'
import { indexOf, rank } from './rank.ts'
import { recentEntries, withRecent } from './recent.ts'
import { type Found, useFound } from './use-found.ts'

const name = 'Search pages, agents and actions'
/** Results that are shown; a further word narrows them. */
const most = 40
/** Agents that are listed before anything is typed. */
const mostAgents = 20

const movingKeys: ReadonlySet<string> = new Set(['ArrowDown', 'ArrowUp', 'Home', 'End'])
const idOf = ({ id }: Entry) => id
/** A recent item is listed twice, so it needs a value of its own. */
const recentValue = ({ id }: Entry) => `recent ${id}`

type PaletteCommandsProps = { me: User; onChoose(act: Act): void }

/** The text field and the list below it. */
export function PaletteCommands({ me, onChoose }: PaletteCommandsProps) {
  const { data: agents } = useQuery(agentsQuery(useApi()))
  const current = currentAgent(useLocation().pathname)
  const [text, setTyped] = useState('')
  const [selected, setSelected] = useState('')
  const [hasMoved, setMoved] = useState(false)
  const [recent, setRecent] = useStoredState<readonly string[]>(`palette-recent:${me.id}`, [])
  const entries = useMemo(() => entriesOf({ me, agents: agents ?? [], current }), [me, agents, current])
  const index = useMemo(() => indexOf(entries), [entries])
  const hits = useMemo(
    () =>
      text.trim() === ''
        ? []
        : rank(index, text)
            .filter((entry) => isOffered(entry, text))
            .slice(0, most),
    [index, text],
  )
  const found = useFound(text)

  const setText = (next: string) => {
    setTyped(next)
    setMoved(false)
  }
  const isEmpty = text.trim() === ''
  const lastOpened = recentEntries(recent, entries)
  const of = (kind: Entry['kind']) => entries.filter((entry) => entry.kind === kind)
  const listed = of('Agent').slice(0, mostAgents)
  const first = isEmpty
    ? lastOpened[0]
      ? recentValue(lastOpened[0])
      : (listed[0] ?? entries[0])?.id
    : (hits[0] ?? found.runs[0] ?? found.conversations[0])?.id

  const choose = (entry: Entry) => {
    if (entry.act.do === 'narrow') return setText(entry.act.text)
    setRecent(withRecent(recent, entry))
    onChoose(entry.act)
  }
  const list = (heading: string, shown: readonly Entry[], toValue = idOf) =>
    shown.length > 0 && (
      <Group heading={heading}>
        {shown.map((entry) => (
          <EntryItem key={entry.id} value={toValue(entry)} entry={entry} onSelect={() => choose(entry)} />
        ))}
      </Group>
    )
  return (
    <Command
      label={name}
      loop
      shouldFilter={false}
      // The best match stays selected while agents and runs arrive, until the person selects another one.
      value={hasMoved ? selected : (first ?? '')}
      onValueChange={setSelected}
      onKeyDownCapture={(event: KeyboardEvent) => movingKeys.has(event.key) && setMoved(true)}
      onPointerMoveCapture={({ target }: PointerEvent) =>
        target instanceof Element && target.closest('[cmdk-item]') !== null && setMoved(true)
      }
    >
      <Command.Input
        value={text}
        onValueChange={setText}
        placeholder="Search or run a command…"
        className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none placeholder:text-faint focus-visible:outline-none"
      />
      <Command.List label="Results" className="max-h-[min(26rem,60dvh)] overflow-y-auto p-1.5">
        {isEmpty ? (
          <>
            {list('Recent', lastOpened, recentValue)}
            {list('Agents', listed)}
            {list('Pages', of('Page'))}
            {list(
              'Actions',
              of('Action').filter(({ id }) => id.startsWith('action ')),
            )}
          </>
        ) : (
          <>
            {list('Best matches', hits)}
            <FoundItems heading="Runs" icon={<History />} found={found.runs} onChoose={onChoose} />
            <FoundItems
              heading="Conversations"
              icon={<MessageSquare />}
              found={found.conversations}
              onChoose={onChoose}
            />
            {found.hasFailed && <Note>Runs and conversations could not be searched.</Note>}
            {found.isSearching ? (
              <Note>Searching runs and conversations…</Note>
            ) : (
              <Command.Empty className="px-3 py-8 text-center text-muted text-sm">No results.</Command.Empty>
            )}
          </>
        )}
      </Command.List>
      <p aria-hidden className="flex gap-4 border-t border-line px-4 py-2 text-muted text-xs max-sm:hidden">
        <Hint keys={['↑', '↓']}>Choose</Hint>
        <Hint keys={['Enter']}>Open or run</Hint>
        <Hint keys={['Esc']}>Close</Hint>
      </p>
    </Command>
  )
}

type FoundItemsProps = { heading: string; icon: ReactNode; found: readonly Found[]; onChoose(act: Act): void }

function FoundItems({ heading, icon, found, onChoose }: FoundItemsProps) {
  if (found.length === 0) return null
  return (
    <Group heading={heading}>
      {found.map(({ id, title, detail, href }) => (
        <Item key={id} value={id} icon={icon} onSelect={() => onChoose({ do: 'go', href })}>
          <span className="min-w-0 flex-1 truncate">{title}</span>
          <span className="max-w-1/2 shrink-0 truncate text-muted text-xs">{detail}</span>
        </Item>
      ))}
    </Group>
  )
}

function EntryItem({ value, entry, onSelect }: { value: string; entry: Entry; onSelect(): void }) {
  const Icon = iconOf(entry.icon)
  const { title, detail, keys, kind } = entry
  return (
    <Item value={value} icon={<Icon />} onSelect={onSelect}>
      <span className="min-w-0 truncate">
        {title}
        {detail && <span className="ml-2 text-muted text-xs">{detail}</span>}
      </span>
      <span className="ml-auto shrink-0 pl-2 text-muted text-xs">{keys ? <Keys keys={keys} /> : kind}</span>
    </Item>
  )
}

/** Pressed one after the other. */
function Keys({ keys }: { keys: readonly string[] }) {
  return (
    <span className="inline-flex items-center gap-1">
      {keys.map((key, position) => (
        <span key={key} className="inline-flex items-center gap-1">
          {position > 0 && 'then'}
          <Kbd keys={[key]} />
        </span>
      ))}
    </span>
  )
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-faint [&_[cmdk-group-heading]]:text-xs"
    >
      {children}
    </Command.Group>
  )
}

type ItemProps = { value: string; icon: ReactNode; onSelect(): void; children: ReactNode }

function Item({ icon, children, ...item }: ItemProps) {
  return (
    <Command.Item
      {...item}
      className="flex h-9 cursor-default items-center gap-2.5 rounded-md px-2.5 text-sm data-[selected=true]:bg-hover"
    >
      <span aria-hidden className="text-muted [&_svg]:size-4">
        {icon}
      </span>
      {children}
    </Command.Item>
  )
}

function Note({ children }: { children: ReactNode }) {
  return (
    <p role="status" className="px-3 py-3 text-center text-muted text-xs">
      {children}
    </p>
  )
}

function Hint({ keys, children }: { keys: string[]; children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <Kbd keys={keys} /> {children}
    </span>
  )
}
