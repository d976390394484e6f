import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ChatSession, SessionChanges } from '@roost/contracts/conversations/chat'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { MessageSquarePlus, MessagesSquare, PanelRight } from 'lucide-react'
import { Suspense, useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { storeReply } from '../../live/store-reply.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { useDebounced } from '../../ui/use-debounced.ts'
import { Conversation } from './conversation.tsx'
import {
  archivedQuery,
  beginSession,
  changeSession,
  chatKeys,
  foundSessionsQuery,
  sessionsQuery,
  turnCalls,
} from './queries.ts'
import { SessionList, type SessionListProps, titleOf } from './session-list.tsx'
import { panelTabsFor } from './side-panel/panel-tabs.ts'
import { SidePanel } from './side-panel/side-panel.tsx'
import { useSidePanel } from './side-panel/use-side-panel.ts'
import { useLiveTurns } from './use-live-turns.ts'
import { useSessionRemoval } from './use-session-removal.ts'

const RenameDialog = lazyPart(async () => (await import('./rename-dialog.tsx')).RenameDialog)
const ShareDialog = lazyPart(async () => (await import('./share-dialog.tsx')).ShareDialog)

const route = getRouteApi('/signed-in/agents/$name')
/** The `session` parameter of a conversation that has not begun. */
const newSession = 'new'

/** Conversations with an agent. `?session=` selects one; the default is the latest. */
export function ChatTab({ agent }: { agent: AgentDetails }) {
  const api = useApi()
  const { name } = agent
  const sessions = useQuery(sessionsQuery(api, name))
  const { session: requestedId } = route.useSearch()
  if (sessions.data) return <Chat agent={agent} sessions={sessions.data} requestedId={requestedId} />
  if (!sessions.error) return <SkeletonList rows={6} label="Loading conversations" />
  return (
    <ErrorState
      title="Could not load the conversations"
      error={sessions.error}
      onRetry={() => void sessions.refetch()}
    />
  )
}

type ChatProps = { agent: AgentDetails; sessions: readonly ChatSession[]; requestedId: string | undefined }

function Chat({ agent, sessions, requestedId }: ChatProps) {
  const api = useApi()
  const queries = useQueryClient()
  const navigate = route.useNavigate()
  const { name } = agent
  const panelTabs = panelTabsFor(agent)
  const panel = useSidePanel(panelTabs)
  const turns = useLiveTurns(() => turnCalls(api, queries, name))
  const { pending, remove } = useSessionRemoval(name)
  const [model, setModel] = useState<string | null>(null)
  const [renamed, setRenamed] = useState<ChatSession | null>(null)
  const [sharedId, setSharedId] = useState<string | null>(null)
  const [showsArchived, setShowsArchived] = useState(false)
  const [search, setSearch] = useState('')
  const searched = useDebounced(search.trim(), 250)
  const found = useQuery({ ...foundSessionsQuery(api, name, searched), placeholderData: keepPreviousData })
  const archived = useQuery({ ...archivedQuery(api, name), enabled: showsArchived })
  const withPending = (all: readonly ChatSession[]) =>
    all
      .filter(({ id }) => pending.get(id) !== 'delete')
      .map((session) => (pending.has(session.id) ? { ...session, status: 'closed' as const } : session))
  const shown = withPending(sessions)
  const latest = shown.find(({ status }) => status === 'active')?.id
  const selected = requestedId === newSession ? null : (requestedId ?? latest ?? null)

  const go = (session: string, replace = false) =>
    void navigate({ search: { tab: 'chat', session }, replace })
  const list: SessionListProps = {
    agentName: name,
    sessions: shown,
    found: search.trim() !== '' && found.data ? withPending(found.data) : null,
    search,
    onSearch: setSearch,
    archived: showsArchived ? (archived.data ? withPending(archived.data) : 'loading') : null,
    onArchived: setShowsArchived,
    selected,
    onRename: setRenamed,
    onShare: ({ id }) => setSharedId(id),
    onPin: (session) => void change(session, { pinned: !session.pinned }),
    onArchive: (session) => void archive(session),
    onClose: (session) => remove(session, 'close'),
    onDelete(session) {
      remove(session, 'delete')
      if (session.id === selected) void navigate({ search: { tab: 'chat' } })
    },
  }
  async function change({ id }: ChatSession, changes: SessionChanges): Promise<boolean> {
    try {
      await changeSession(api, name, id, changes)
      await queries.invalidateQueries({ queryKey: chatKeys.all(name) })
      return true
    } catch (error) {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
      return false
    }
  }
  /** Archives a conversation, or restores it. */
  async function archive(session: ChatSession): Promise<void> {
    if (session.archived_at !== null) return void (await change(session, { archived: false }))
    if (!(await change(session, { archived: true }))) return
    if (session.id === selected) void navigate({ search: { tab: 'chat' } })
    toast({
      title: 'Conversation archived',
      description: titleOf(session),
      action: { label: 'Undo', onAction: () => void change(session, { archived: false }) },
    })
  }
  async function onBranched(session: ChatSession): Promise<void> {
    await storeReply<ChatSession[]>(queries, chatKeys.list(name), (now = []) => [session, ...now])
    go(session.id)
  }
  async function onBegin(): Promise<ChatSession> {
    const session = await beginSession(api, name)
    await storeReply<ChatSession[]>(queries, chatKeys.list(name), (now = []) => [session, ...now])
    return session
  }
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <aside
        aria-label="Conversations"
        className="hidden w-64 shrink-0 flex-col border-r border-line md:flex"
      >
        <SessionList {...list} />
      </aside>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <PhoneBar list={list} onNew={() => go(newSession)} onPanel={() => panel.open()} />
        <Conversation
          agent={agent}
          sessionId={selected}
          turns={turns}
          isClosing={selected !== null && pending.get(selected) === 'close'}
          model={model}
          onModel={setModel}
          onBegin={onBegin}
          onBegun={(session) => go(session.id, true)}
          onBranched={onBranched}
          onLeave={() => go(newSession)}
        />
      </div>
      <SidePanel panel={panel} tabs={panelTabs} agent={agent} sessionId={selected} turns={turns} />
      {sharedId !== null && (
        <Suspense fallback={null}>
          <ShareDialog agentName={name} sessionId={sharedId} onClose={() => setSharedId(null)} />
        </Suspense>
      )}
      {renamed && (
        <Suspense fallback={null}>
          <RenameDialog
            title={titleOf(renamed)}
            onClose={() => setRenamed(null)}
            onRename={async (title) => {
              await changeSession(api, name, renamed.id, { title })
              await queries.invalidateQueries({ queryKey: chatKeys.all(name) })
            }}
          />
        </Suspense>
      )}
    </div>
  )
}

type PhoneBarProps = { list: SessionListProps; onNew: () => void; onPanel: () => void }

/** On phones the list of conversations and the side panel are behind buttons. */
function PhoneBar({ list, onNew, onPanel }: PhoneBarProps) {
  const [isOpen, setOpen] = useState(false)
  const archived = list.archived === 'loading' ? null : list.archived
  const current = [...list.sessions, ...(archived ?? [])].find(({ id }) => id === list.selected)
  return (
    <div className="flex items-center gap-2 border-b border-line px-3 py-1.5 md:hidden">
      <Button
        variant="ghost"
        className="min-w-0 flex-1 justify-start!"
        icon={<MessagesSquare aria-hidden />}
        onClick={() => setOpen(true)}
      >
        <span className="sr-only">Conversations: </span>
        <span className="truncate">{titleOf(current ?? { title: null })}</span>
      </Button>
      <IconButton label="New conversation" icon={<MessageSquarePlus aria-hidden />} onClick={onNew} />
      <IconButton label="Open the side panel" icon={<PanelRight aria-hidden />} onClick={onPanel} />
      <Sheet open={isOpen} onOpenChange={setOpen} title="Conversations" size="sm">
        <div className="-mx-5 flex min-h-0 flex-col">
          <SessionList {...list} onChosen={() => setOpen(false)} />
        </div>
      </Sheet>
    </div>
  )
}
