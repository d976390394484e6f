import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ChatSession } from '@roost/contracts/conversations/chat'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, Suspense, useCallback, useEffect, useEffectEvent, useMemo, useRef } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { DropZone } from '../../ui/drop-zone.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { ChatCall } from '../voice/chat-call.tsx'
import { useTransferList } from '../workspace/uploads/use-transfers.ts'
import type { WorkspaceFile } from './attachments.ts'
import { ChatObstacle, useChatObstacle } from './chat-obstacle.tsx'
import { ChatWelcome } from './chat-welcome.tsx'
import { Composer } from './composer.tsx'
import type { LiveTurns } from './live-turns.ts'
import { MessageList } from './message-list.tsx'
import { ModelChoice } from './model-choice.tsx'
import { chatKeys, messagesQuery } from './queries.ts'
import { TurnAnnouncer } from './turn-announcer.tsx'
import { turnsOf } from './turns-of.ts'
import { useComposer } from './use-composer.ts'
import { useTurnsOf } from './use-live-turns.ts'
import { useMessageUploads } from './use-message-uploads.ts'
import { useTurnActions } from './use-turn-actions.ts'
import { turnToStop, unread, visibleTurns } from './visible-turns.ts'

const TransferList = lazyPart(
  async () => (await import('../workspace/uploads/transfer-list.tsx')).TransferList,
)

export type ConversationProps = {
  agent: AgentDetails
  /** Null: a conversation that begins with the first message. */
  sessionId: string | null
  turns: LiveTurns
  /** Closing is pending, so the conversation counts as closed. */
  isClosing: boolean
  model: string | null
  onModel: (model: string | null) => void
  /** Creates the conversation for the first message. */
  onBegin: () => Promise<ChatSession>
  onBegun: (session: ChatSession) => void
  /** Switches to a branch of this conversation. */
  onBranched: (session: ChatSession) => Promise<void>
  /** Switches to a new conversation. */
  onLeave: () => void
}

export function Conversation(props: ConversationProps) {
  const { agent, sessionId, turns, isClosing, model, onModel, onBegin, onBegun, onBranched, onLeave } = props
  const { name } = agent
  const messages = useInfiniteQuery({
    ...messagesQuery(useApi(), name, sessionId ?? ''),
    enabled: sessionId !== null,
  })
  const stored = useMemo(
    () => turnsOf((messages.data?.pages ?? []).toReversed().flatMap((page) => page.messages)),
    [messages.data],
  )
  const live = useTurnsOf(turns, sessionId)
  const shown = visibleTurns(stored, live)
  const composer = useComposer(`${name}.${sessionId ?? 'new'}`, '', useMessageUploads(agent))
  const input = useRef<HTMLTextAreaElement>(null)
  const actions = useTurnActions({
    agentName: name,
    ...{ sessionId, turns, composer, model, input, onBegin, onBegun, onBranched },
  })
  const stoppable = turnToStop(live)

  useFollowing(turns, sessionId, unread(stored, live))
  useSlashFocus(input)
  useFocusOnBegin(input, sessionId)

  const obstacle = useChatObstacle(agent, messages.data?.pages[0]?.session ?? null, isClosing)
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = messages
  const onEarlier = useCallback(() => void fetchNextPage(), [fetchNextPage])
  return (
    <DropZone label="Drop files to attach them" onFiles={composer.attach}>
      {sessionId !== null && messages.data === undefined && live.length === 0 ? (
        <Frame>
          {messages.error ? (
            <ErrorState
              title="Could not load the conversation"
              error={messages.error}
              onRetry={() => void messages.refetch()}
            />
          ) : (
            <SkeletonText lines={6} label="Loading conversation" />
          )}
        </Frame>
      ) : shown.length === 0 ? (
        <Frame>
          <ChatWelcome
            agent={agent}
            onSuggest={(text) => {
              composer.setText(text)
              input.current?.focus()
            }}
          />
        </Frame>
      ) : (
        <MessageList
          key={sessionId}
          agentName={name}
          turns={shown}
          actions={actions.forTurns}
          onEarlier={hasNextPage ? onEarlier : null}
          isLoadingEarlier={isFetchingNextPage}
        />
      )}
      <TurnAnnouncer live={live} agentLabel={agent.label ?? name} />
      <Composer
        state={composer}
        input={input}
        agentLabel={agent.label ?? name}
        obstacle={obstacle && <ChatObstacle obstacle={obstacle} agent={agent} onLeave={onLeave} />}
        isBlocked={obstacle !== null}
        isSending={actions.isBeginning}
        onSend={() => void actions.onSend()}
        onStop={stoppable && (() => void actions.onStop(stoppable))}
        isStopping={stoppable?.isStopping ?? false}
        modelChoice={
          <ModelChoice
            runtime={agent.runtime}
            agentModel={agent.runtime_model}
            value={model}
            onValueChange={onModel}
          />
        }
        uploads={<Uploads files={composer.workspaceFiles} />}
        call={<ChatCall {...{ agent, sessionId, onBegin, onBegun }} staleAfter={chatKeys.all(name)} />}
      />
    </DropZone>
  )
}

/** The uploads of the message that is being written. */
function Uploads({ files }: { files: readonly WorkspaceFile[] }) {
  const ids = new Set(files.map(({ id }) => id))
  const transfers = useTransferList().filter(({ id }) => ids.has(id))
  if (transfers.length === 0) return null
  return (
    <Suspense fallback={null}>
      <TransferList transfers={transfers} className="pt-2" />
    </Suspense>
  )
}

function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className="m-auto w-full max-w-3xl px-4 py-6 md:px-6">{children}</div>
    </div>
  )
}

/** Follows the turns that this page did not start: those of other tabs and of before a reload. */
function useFollowing(turns: LiveTurns, sessionId: string | null, executionIds: readonly string[]): void {
  const ids = executionIds.join()
  useEffect(() => {
    if (sessionId === null || ids === '') return
    for (const id of ids.split(',')) turns.follow(sessionId, id)
  }, [turns, sessionId, ids])
}

/**
 * Focuses the composer of a new conversation. Typing and open dialogs keep the focus, and when the page opens, so does
 * an element reached by keyboard. Not on phones, where the keyboard would cover the page.
 */
function useFocusOnBegin(input: { current: HTMLTextAreaElement | null }, sessionId: string | null): void {
  const previousId = useRef<string | null>(null)
  useEffect(() => {
    const isFirst = previousId.current === null
    previousId.current = sessionId
    const focused = document.activeElement
    const isBusy =
      focused?.closest('input, textarea, select, [role=dialog], [role=menu]') ||
      (isFirst && focused !== document.body && focused?.matches(':focus-visible'))
    if (sessionId === null && !isBusy && matchMedia('(pointer: fine)').matches) input.current?.focus()
  }, [input, sessionId])
}

/** `/` focuses the composer, unless a text field has the focus. */
function useSlashFocus(input: { current: HTMLTextAreaElement | null }): void {
  const focus = useEffectEvent(() => input.current?.focus())
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      const { target } = event
      const isTyping =
        target instanceof HTMLElement &&
        (target.isContentEditable || target.closest('input, textarea, select, [role=dialog]') !== null)
      if (isTyping) return
      event.preventDefault()
      focus()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
}
