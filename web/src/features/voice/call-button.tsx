import { Phone } from 'lucide-react'
import { Suspense, useState } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import type { CallTarget } from './queries.ts'

const CallPanel = lazyPart(() => import('./call-panel.tsx').then(({ CallPanel }) => CallPanel))

export type CallButtonProps = {
  target: CallTarget
  agentLabel: string
  /** Why no call can be made now; null when one can. */
  obstacle: string | null
  /** What was said is in the conversation. */
  onEnded: () => void
}

/** Calls the agent; what a call needs is loaded when the first one is made. */
export function CallButton({ target, agentLabel, obstacle, onEnded }: CallButtonProps) {
  const [isCalling, setCalling] = useState(false)
  return (
    <>
      <IconButton
        label={obstacle ?? 'Call'}
        icon={<Phone aria-hidden />}
        disabled={obstacle !== null}
        onClick={() => setCalling(true)}
      />
      {isCalling && (
        <Suspense>
          <CallPanel
            target={target}
            agentLabel={agentLabel}
            onClose={() => {
              setCalling(false)
              onEnded()
            }}
          />
        </Suspense>
      )}
    </>
  )
}
