import type { PublicChatShown } from '@roost/contracts/conversations/public-chat'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { publicPicture } from './queries.ts'

export type WelcomeText = Pick<PublicChatShown, 'greeting' | 'starter_questions' | 'agent_description'>

type WelcomeProps = {
  token: string
  label: string
  text: WelcomeText
  /** Sends a question; null when no message can be sent. */
  onAsk: ((question: string) => void) | null
}

/** Shown to a visitor before the first message. A greeting replaces the agent's own description. */
export function PublicWelcome({ token, label, text, onAsk }: WelcomeProps) {
  const { greeting, starter_questions: questions, agent_description } = text
  const words = greeting ?? agent_description
  return (
    <div className="flex flex-col items-center gap-3 py-8 text-center">
      <AgentAvatar name={label} src={publicPicture(token)} size="xl" />
      <p className="max-w-full font-semibold text-lg [overflow-wrap:anywhere]">{label}</p>
      {words !== null && (
        <p
          className={cx(
            'max-w-md whitespace-pre-line text-sm [overflow-wrap:anywhere]',
            greeting === null && 'line-clamp-6',
          )}
        >
          {words}
        </p>
      )}
      {questions.length > 0 && (
        <ul aria-label="Starter questions" className="flex w-full max-w-md flex-col gap-2">
          {questions.map((question) => (
            <li key={question}>
              <Button
                className="h-auto! w-full justify-start! whitespace-normal! py-1.5 text-left font-normal! [overflow-wrap:anywhere]"
                disabled={onAsk === null}
                onClick={() => onAsk?.(question)}
              >
                {question}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <p className="max-w-md text-muted text-sm">
        Ask anything. The agent and its owner can read your messages.
      </p>
    </div>
  )
}
