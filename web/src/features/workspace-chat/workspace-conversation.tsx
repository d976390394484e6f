import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import { type Conversation, readConversation } from '@roost/contracts/conversations/workspace-conversations'
import { workspaceMessageLength } from '@roost/contracts/conversations/workspace-turns'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { newKey } from '../../lib/new-key.ts'
import { useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { DropZone } from '../../ui/drop-zone.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { Composer } from '../chat/composer.tsx'
import type { LiveTurn, LiveTurns } from '../chat/live-turns.ts'
import { useComposer } from '../chat/use-composer.ts'
import { useTurnsOf } from '../chat/use-live-turns.ts'
import { useStickToBottom } from '../chat/use-stick-to-bottom.ts'
import { turnToStop } from '../chat/visible-turns.ts'
import type { History } from './history.ts'
import { LiveView } from './live-view.tsx'
import { MessageView } from './message-view.tsx'
import { type ModelOption, ModelOptions } from './model-options.tsx'
import { historyQuery, stopTurn, workspaceKeys } from './queries.ts'
import { createTurnActions } from './turn-actions.ts'
import { visibleMessages } from './visible-messages.ts'

type ConversationProps = {
  agent: RosterAgent
  conversation: Conversation
  models: readonly ModelOption[]
  turns: LiveTurns
}

/** One conversation with one agent. */
export function WorkspaceConversation({ agent, conversation, models, turns }: ConversationProps) {
  const { api } = useApp()
  const { name, state } = agent
  const { id: sessionId } = conversation
  const isArchived = conversation.archived_at !== null
  const history = useQuery(historyQuery(api, name, sessionId))
  const all = useTurnsOf(turns, sessionId)
  const shown = visibleMessages(history.data?.messages ?? [], all)
  const [model, setModel] = useState<string | null>(null)
  const composer = useComposer(`workspace.${name}.${sessionId}`)
  const input = useRef<HTMLTextAreaElement>(null)
  const stoppable = turnToStop(shown.live)
  const isTooLong = composer.text.length > workspaceMessageLength

  useFollowing(turns, sessionId, history.data?.in_flight_execution_id ?? null)
  useRead(sessionId, history.data)

  const talk = createTurnActions({
    turns,
    sessionId,
    composer,
    input,
    model,
    stopRun: (executionId) => stopTurn(api, name, executionId),
  })
  return (
    <DropZone label="Drop files to attach them" onFiles={composer.attach}>
      {history.data || shown.live.length > 0 ? (
        <Messages
          agent={agent}
          sessionId={sessionId}
          history={history.data ?? null}
          shown={shown}
          onRetry={talk.retry}
          onEdit={talk.edit}
          onAgain={(message) => turns.send(sessionId, { message, model, files: [], key: newKey() })}
          onStart={(text) => {
            composer.setText(text)
            input.current?.focus()
          }}
        />
      ) : (
        <div className="m-auto w-full max-w-3xl px-4 py-6">
          {history.error ? (
            <ErrorState
              title="Could not load the conversation"
              error={history.error}
              onRetry={() => void history.refetch()}
            />
          ) : (
            <SkeletonText lines={6} label="Loading conversation" />
          )}
        </div>
      )}
      {isArchived ? (
        <p className="border-t px-6 py-3 text-center text-muted text-sm">
          This conversation is archived (read-only).
        </p>
      ) : (
        <Composer
          state={composer}
          input={input}
          agentLabel={agent.label ?? name}
          obstacle={<Obstacle state={state} isTooLong={isTooLong} />}
          isBlocked={state !== 'ready' || isTooLong || stoppable !== null}
          isSending={false}
          onSend={talk.send}
          onStop={stoppable && (() => void talk.stop(stoppable))}
          isStopping={stoppable?.isStopping ?? false}
          modelChoice={<ModelOptions options={models} value={model} onValueChange={setModel} />}
        />
      )}
    </DropZone>
  )
}

function Obstacle({ state, isTooLong }: { state: RosterAgent['state']; isTooLong: boolean }) {
  if (state !== 'ready') {
    return (
      <Banner tone="warning" className="mb-2">
        {state === 'stopped'
          ? 'The agent is stopped. Ask its owner to start it.'
          : 'The agent is offline. Try again later.'}
      </Banner>
    )
  }
  if (!isTooLong) return null
  return (
    <Banner tone="warning" className="mb-2">
      A message can have at most {workspaceMessageLength.toLocaleString('en')} characters.
    </Banner>
  )
}

type MessagesProps = {
  agent: RosterAgent
  sessionId: string
  history: History | null
  shown: { stored: readonly History['messages'][number][]; live: readonly LiveTurn[] }
  onRetry: (turn: LiveTurn) => void
  onEdit: (turn: LiveTurn) => void
  /** Sends the same message again. */
  onAgain: (message: string) => void
  onStart: (text: string) => void
}

function Messages({ agent, sessionId, history, shown, ...on }: MessagesProps) {
  const { stored, live } = shown
  const newest = live.at(-1)
  const { scroller, content } = useStickToBottom({
    newest: `${stored.at(-1)?.id ?? ''} ${newest?.key ?? ''} ${newest?.transcript.steps.length ?? 0}`,
    oldest: stored[0]?.id ?? '',
    own: live.findLast(({ question }) => question)?.key ?? '',
  })
  const outcome = live.length === 0 ? history?.last_turn_outcome : null
  // Sent files are deleted, so such a message must be written again.
  const last = stored.at(-1)
  const isEmpty = stored.length === 0 && live.length === 0
  return (
    <section
      ref={scroller}
      aria-label="Messages"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs a tab stop
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto overflow-x-hidden focus-visible:-outline-offset-2"
    >
      <div ref={content} className="mx-auto flex w-full max-w-3xl flex-col gap-7 px-4 pt-5 pb-4 md:px-6">
        {history?.truncated && (
          <p className="text-center text-muted text-xs">Older messages are not shown.</p>
        )}
        {isEmpty ? (
          <Welcome agent={agent} onStart={on.onStart} />
        ) : (
          <ol aria-label="Conversation" className="flex flex-col gap-7">
            {stored.map((message) => (
              <MessageView key={message.id} name={agent.name} sessionId={sessionId} message={message} />
            ))}
            {live.map((turn) => (
              <LiveView
                key={turn.key}
                turn={turn}
                name={agent.label ?? agent.name}
                onRetry={() => on.onRetry(turn)}
                onEdit={() => on.onEdit(turn)}
              />
            ))}
          </ol>
        )}
        {outcome && (
          <Banner
            tone="warning"
            title="No answer to the last message"
            action={
              outcome.retryable &&
              last?.files.length === 0 && (
                <Button size="sm" onClick={() => on.onAgain(last.content)}>
                  Try again
                </Button>
              )
            }
          >
            {outcome.message}
          </Banner>
        )}
      </div>
    </section>
  )
}

function Welcome({ agent, onStart }: { agent: RosterAgent; onStart: (text: string) => void }) {
  return (
    <div className="flex flex-col items-center gap-3 py-10 text-center">
      <p className="font-semibold text-lg">{agent.label ?? agent.name}</p>
      <p className="max-w-md text-muted text-sm">{agent.description ?? 'Ask anything.'}</p>
      {agent.playbooks.length > 0 && (
        <ul aria-label="Playbooks" className="mt-2 flex flex-wrap justify-center gap-2">
          {agent.playbooks.map((playbook) => (
            <li key={playbook.title}>
              <Button
                title={playbook.description ?? undefined}
                onClick={() => onStart(playbook.starter_prompt)}
              >
                {playbook.title}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Follows a turn that was started in another tab or before a reload. */
function useFollowing(turns: LiveTurns, sessionId: string, executionId: string | null): void {
  useEffect(() => {
    if (executionId !== null) turns.follow(sessionId, executionId)
  }, [turns, sessionId, executionId])
}

/** Shown messages count as read. */
function useRead(sessionId: string, history: History | undefined): void {
  const { api, queries } = useApp()
  const newest = history?.messages.at(-1)?.id
  useEffect(() => {
    if (newest === undefined) return
    api.call(readConversation, { params: { id: sessionId } }).then(
      () => queries.invalidateQueries({ queryKey: [...workspaceKeys.all, 'roster'] }),
      // The next message marks them as read as well.
      () => {},
    )
  }, [api, queries, sessionId, newest])
}
