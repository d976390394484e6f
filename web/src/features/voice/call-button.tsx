import { Phone } from 'lucide-react'
import { Suspense, useState } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import type { CallTarget } from './queries.ts'

const CallPanel = lazyPart(() => import('./call-panel.tsx').then(({ CallPanel }) => CallPanel))

export type CallButtonProps = {
  target: CallTarget
  agentLabel: string
  /** Why a call is not possible; null when it is. */
  obstacle: string | null
  /** The spoken text was added to the conversation. */
  onEnded: () => void
}

/** Calls the agent. The code for calls loads with the first call. */
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
