import { ApiError } from '@roost/contracts/client'
import { publicMessageLength } from '@roost/contracts/conversations/public-chat'
import { useQuery } from '@tanstack/react-query'
import { MessageSquarePlus } from 'lucide-react'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useApp } from '../../shell/app-context.ts'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { DropZone } from '../../ui/drop-zone.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { Composer } from '../chat/composer.tsx'
import type { LiveTurn } from '../chat/live-turns.ts'
import { type ComposerState, useComposer } from '../chat/use-composer.ts'
import { useLiveTurns, useTurnsOf } from '../chat/use-live-turns.ts'
import { turnToStop } from '../chat/visible-turns.ts'
import { showFault } from '../workspace-chat/show-fault.ts'
import { createTurnActions } from '../workspace-chat/turn-actions.ts'
import { visibleMessages } from '../workspace-chat/visible-messages.ts'
import { PublicMessages } from './public-messages.tsx'
import { PublicWelcome, type WelcomeText } from './public-welcome.tsx'
import { beginAnew, publicCalls, publicHistoryQuery, publicPicture, stopPublicTurn } from './queries.ts'
import type { Visit } from './visit.ts'

type ConversationProps = {
  token: string
  label: string
  welcome: WelcomeText
  isAvailable: boolean
  visit: Visit
}

/** The single conversation of a visitor on a link. */
export function PublicConversation({ token, label, welcome, isAvailable, visit }: ConversationProps) {
  const { api, queries } = useApp()
  const as = useSyncExternalStore(visit.onChange, visit.snapshot)
  const history = useQuery(publicHistoryQuery(api, token, visit, as))
  const turns = useLiveTurns(() => publicCalls({ api, queries }, token, visit))
  const all = useTurnsOf(turns, token)
  const shown = visibleMessages(history.data?.messages ?? [], all)
  const composer = useComposer(`public.${token}`)
  const input = useRef<HTMLTextAreaElement>(null)
  const [isResetting, setResetting] = useState(false)
  const stoppable = turnToStop(shown.live)
  const isTooLong = composer.text.length > publicMessageLength
  const inFlight = history.data?.in_flight_execution_id ?? null

  // A turn that was started in another tab or before a reload.
  useEffect(() => {
    if (inFlight !== null) turns.follow(token, inFlight)
  }, [turns, token, inFlight])
  useEnding(history.error, shown.live, composer, visit)

  const talk = createTurnActions({
    turns,
    sessionId: token,
    composer,
    input,
    model: null,
    stopRun: (executionId) => stopPublicTurn(api, token, visit, executionId),
  })
  async function reset(): Promise<void> {
    setResetting(true)
    try {
      const { new_session_id } = await beginAnew(api, token, visit)
      turns.close()
      if (new_session_id !== null) visit.store({ session_id: new_session_id })
      await queries.invalidateQueries({ queryKey: ['public-chat', token, 'history'] })
      input.current?.focus()
    } catch (error) {
      showFault(error)
    } finally {
      setResetting(false)
    }
  }
  const isBegun = shown.stored.length > 0 || shown.live.length > 0
  return (
    <div className="flex h-dvh flex-col bg-canvas text-ink">
      <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-surface px-4">
        <AgentAvatar name={label} src={publicPicture(token)} />
        <h1 className="min-w-0 flex-1 truncate font-semibold tracking-tight">{label}</h1>
        <Button
          size="sm"
          variant="ghost"
          icon={<MessageSquarePlus aria-hidden />}
          disabled={!isBegun || stoppable !== null}
          pending={isResetting}
          onClick={() => void reset()}
        >
          New conversation
        </Button>
      </header>
      <main className="flex min-h-0 flex-1 flex-col">
        <DropZone label="Drop files to attach them" onFiles={composer.attach}>
          {history.data || shown.live.length > 0 ? (
            <PublicMessages
              label={label}
              stored={shown.stored}
              live={shown.live}
              end={all.at(-1)?.end ?? null}
              isCut={(history.data?.message_count ?? 0) > (history.data?.messages.length ?? 0)}
              onRetry={talk.retry}
              onEdit={talk.edit}
              welcome={
                <PublicWelcome
                  token={token}
                  label={label}
                  text={welcome}
                  onAsk={isAvailable ? talk.ask : null}
                />
              }
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
          <Composer
            state={composer}
            input={input}
            agentLabel={label}
            obstacle={<Obstacle isAvailable={isAvailable} isTooLong={isTooLong} />}
            isBlocked={!isAvailable || isTooLong || stoppable !== null}
            isSending={false}
            onSend={talk.send}
            onStop={stoppable && (() => void talk.stop(stoppable))}
            isStopping={stoppable?.isStopping ?? false}
            modelChoice={null}
          />
        </DropZone>
      </main>
    </div>
  )
}

function Obstacle({ isAvailable, isTooLong }: { isAvailable: boolean; isTooLong: boolean }) {
  if (!isAvailable) {
    return (
      <Banner tone="warning" className="mb-2">
        The agent is not available at the moment. Try again later.
      </Banner>
    )
  }
  if (!isTooLong) return null
  return (
    <Banner tone="warning" className="mb-2">
      A message can have at most {publicMessageLength.toLocaleString('en')} characters.
    </Banner>
  )
}

/**
 * A confirmed address expires after a day. Then it must be confirmed again, and the refused message is kept
 * as a draft.
 */
function useEnding(error: unknown, live: readonly LiveTurn[], composer: ComposerState, visit: Visit): void {
  const untaken = live.find(({ phase }) => phase === 'sending' || phase === 'refused')
  const hasEnded = isOver(error) || isOver(untaken?.fault)
  const message = untaken?.question?.message
  useEffect(() => {
    if (!hasEnded) return
    if (message !== undefined) composer.setText(message)
    visit.forget()
  }, [hasEnded, message, composer, visit])
}

function isOver(error: unknown): boolean {
  return error instanceof ApiError && error.body?.error === 'session_expired'
}
