import type { ChatSession } from '@roost/contracts/conversations/chat'
import { Link } from '@tanstack/react-router'
import {
  Archive,
  ArchiveRestore,
  ChevronRight,
  Lock,
  MessageSquarePlus,
  MoreHorizontal,
  Pencil,
  Pin,
  PinOff,
  Share2,
  Trash2,
  Users,
} from 'lucide-react'
import { Fragment } from 'react'
import { buttonClass, IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { Cost } from '../../ui/cost.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { RelativeTime } from '../../ui/time.tsx'

export type SessionListProps = {
  agentName: string
  sessions: readonly ChatSession[]
  /** The conversations that contain the searched text; null without one. */
  found: readonly ChatSession[] | null
  search: string
  onSearch: (text: string) => void
  /** The archived conversations; null while they are hidden. */
  archived: readonly ChatSession[] | 'loading' | null
  onArchived: (isShown: boolean) => void
  /** Null: a conversation that has not begun. */
  selected: string | null
  onRename: (session: ChatSession) => void
  onShare: (session: ChatSession) => void
  /** Pins the conversation, or unpins it. */
  onPin: (session: ChatSession) => void
  /** Archives the conversation, or restores it. */
  onArchive: (session: ChatSession) => void
  onClose: (session: ChatSession) => void
  onDelete: (session: ChatSession) => void
  /** Called when a conversation is chosen. */
  onChosen?: () => void
}

/** A short list needs no search. */
const searchedFrom = 6

/** The user's conversations with an agent: pinned ones, the latest, closed ones, and archived ones on request. */
export function SessionList(props: SessionListProps) {
  const { agentName, sessions, found, search, onSearch, selected, onChosen } = props
  const listed = found ?? sessions
  const groups = groupsOf(listed)
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="px-3 pt-3 pb-2">
        <Link
          to="/agents/$name"
          params={{ name: agentName }}
          search={{ tab: 'chat', session: 'new' }}
          onClick={onChosen}
          aria-current={selected === null ? 'page' : undefined}
          className={buttonClass({ className: 'w-full' })}
        >
          <MessageSquarePlus aria-hidden />
          New conversation
        </Link>
        {(sessions.length >= searchedFrom || search !== '') && (
          <SearchInput
            label="Search conversations"
            placeholder="Search"
            className="mt-2"
            maxLength={200}
            value={search}
            onValueChange={onSearch}
          />
        )}
      </div>
      <nav aria-label="Conversations" className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {found?.length === 0 && (
          <p role="status" className="px-2 py-1 text-muted text-sm">
            No conversation contains “{search.trim()}”.
          </p>
        )}
        {groups.map(({ heading, sessions: group }) => (
          <Fragment key={heading}>
            {heading && <h2 className="px-2 pt-3 pb-1 text-xs font-medium text-faint">{heading}</h2>}
            <SessionGroup {...props} sessions={group} />
          </Fragment>
        ))}
        {found === null && <Archived {...props} />}
      </nav>
    </div>
  )
}

/** The groups with at least one conversation. */
function groupsOf(listed: readonly ChatSession[]) {
  const unarchived = listed.filter(({ archived_at }) => archived_at === null)
  const active = unarchived.filter(({ status }) => status === 'active')
  const pinned = unarchived.filter((session) => session.pinned)
  return [
    { heading: 'Pinned', sessions: pinned },
    { heading: pinned.length > 0 ? 'Recent' : null, sessions: active.filter(({ pinned }) => !pinned) },
    {
      heading: 'Closed',
      sessions: unarchived.filter(({ status, pinned }) => status === 'closed' && !pinned),
    },
    { heading: 'Archived', sessions: listed.filter(({ archived_at }) => archived_at !== null) },
  ].filter(({ sessions }) => sessions.length > 0)
}

/** Archived conversations load when their section is opened. */
function Archived(props: SessionListProps) {
  const { archived, onArchived } = props
  const isOpen = archived !== null
  return (
    <>
      <h2 className="pt-3">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => onArchived(!isOpen)}
          className="flex h-7 w-full items-center gap-1 rounded-md px-2 text-xs font-medium text-muted hover:bg-hover hover:text-ink"
        >
          <ChevronRight aria-hidden className={cx('size-3.5 shrink-0', isOpen && 'rotate-90')} />
          Archived
        </button>
      </h2>
      {archived === 'loading' && <p className="px-2 py-1 text-muted text-xs">Loading…</p>}
      {archived !== 'loading' && archived?.length === 0 && (
        <p className="px-2 py-1 text-muted text-xs">No archived conversations.</p>
      )}
      {archived !== 'loading' && archived && <SessionGroup {...props} sessions={archived} />}
    </>
  )
}

function SessionGroup(props: SessionListProps) {
  return (
    <ul className="flex flex-col gap-px">
      {props.sessions.map((session) => (
        <SessionRow
          key={session.id}
          {...props}
          session={session}
          isSelected={session.id === props.selected}
        />
      ))}
    </ul>
  )
}

type RowProps = SessionListProps & { session: ChatSession; isSelected: boolean }

function SessionRow(props: RowProps) {
  const { agentName, session, isSelected, onRename, onShare, onPin, onArchive, onClose, onDelete, onChosen } =
    props
  const title = titleOf(session)
  const isArchived = session.archived_at !== null
  return (
    <li className="group/row relative">
      <Link
        to="/agents/$name"
        params={{ name: agentName }}
        search={{ tab: 'chat', session: session.id }}
        onClick={onChosen}
        aria-current={isSelected ? 'page' : undefined}
        className="block rounded-md py-1.5 pr-9 pl-2 hover:bg-hover aria-[current=page]:bg-hover"
      >
        <span className="flex items-center gap-1.5">
          <span className="truncate text-sm text-ink">{title}</span>
          {session.share_count > 0 && (
            <span className="shrink-0 text-muted">
              <Users aria-hidden className="size-3.5" />
              <span className="sr-only">shared</span>
            </span>
          )}
          {session.turn_in_progress && (
            <span className="shrink-0 text-muted">
              <Spinner />
              <span className="sr-only">answering</span>
            </span>
          )}
        </span>
        <span className="flex gap-2 text-xs text-faint group-aria-[current=page]/row:text-muted">
          <RelativeTime at={session.last_message_at ?? session.started_at} />
          {session.total_cost > 0 && <Cost usd={session.total_cost} isEstimated={session.cost_estimated} />}
        </span>
      </Link>
      <div className="absolute top-1.5 right-1 opacity-0 transition-opacity duration-75 group-focus-within/row:opacity-100 group-hover/row:opacity-100 has-data-[state=open]:opacity-100 pointer-coarse:opacity-100">
        <Menu
          trigger={
            <IconButton size="sm" label={`Actions for “${title}”`} icon={<MoreHorizontal aria-hidden />} />
          }
          items={[
            isArchived
              ? { label: 'Restore', icon: <ArchiveRestore aria-hidden />, onSelect: () => onArchive(session) }
              : {
                  label: session.pinned ? 'Unpin' : 'Pin',
                  icon: session.pinned ? <PinOff aria-hidden /> : <Pin aria-hidden />,
                  onSelect: () => onPin(session),
                },
            { label: 'Share…', icon: <Share2 aria-hidden />, onSelect: () => onShare(session) },
            { label: 'Rename…', icon: <Pencil aria-hidden />, onSelect: () => onRename(session) },
            !isArchived && {
              label: 'Archive',
              hint: 'Hidden from the list',
              icon: <Archive aria-hidden />,
              onSelect: () => onArchive(session),
            },
            session.status === 'active' && {
              label: 'Close',
              hint: 'Read-only; the messages are kept',
              icon: <Lock aria-hidden />,
              onSelect: () => onClose(session),
            },
            {
              label: 'Delete',
              icon: <Trash2 aria-hidden />,
              danger: true,
              disabled: session.turn_in_progress,
              onSelect: () => onDelete(session),
            },
          ]}
        />
      </div>
    </li>
  )
}

/** Its name, or the first line of its first message, if any. */
export function titleOf({ title }: Pick<ChatSession, 'title'>): string {
  return title ?? 'New conversation'
}
