import type { AgentDetails } from '@roost/contracts/agents/agent'
import { X } from 'lucide-react'
import { type ReactNode, type RefObject, Suspense, useEffect, useRef } from 'react'
import { commandKey } from '../../../shell/palette-keys.ts'
import { IconButton } from '../../../ui/button.tsx'
import { Sheet } from '../../../ui/dialog.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { SkeletonList } from '../../../ui/skeleton.tsx'
import type { LiveTurns } from '../live-turns.ts'
import type { PanelTab } from './panel-tabs.ts'
import { ResizeHandle } from './resize-handle.tsx'
import { panelWidths, type SidePanelState } from './use-side-panel.ts'

const PanelBody = lazyPart(async () => (await import('./panel-body.tsx')).PanelBody)

export const panelKeys = () => [commandKey(), '.']

export type SidePanelProps = {
  panel: SidePanelState
  tabs: readonly PanelTab[]
  agent: AgentDetails
  /** Null: a conversation that has not begun. */
  sessionId: string | null
  turns: LiveTurns
}

/** Work beside the conversation: over it on narrow screens, and a strip of buttons while it is closed. */
export function SidePanel({ panel, ...props }: SidePanelProps) {
  const { isBeside, isOpen, tab, width } = panel
  const strip = useRef<HTMLDivElement>(null)
  useFocusAfterClose(strip, isBeside && isOpen)
  const body = (close: ReactNode) => (
    <Suspense fallback={<SkeletonList rows={4} label="Loading the side panel" />}>
      <PanelBody {...props} tab={tab} onTab={panel.open} close={close} />
    </Suspense>
  )
  const stripOfButtons = <Strip ref={strip} panel={panel} tabs={props.tabs} />
  if (!isBeside) {
    return (
      <>
        {stripOfButtons}
        <Sheet
          open={isOpen}
          onOpenChange={(next) => (next ? panel.open() : panel.close())}
          title="Side panel"
          size="xl"
        >
          <div className="-mx-5 -mb-5 flex h-[calc(100%+1.25rem)] min-h-0 flex-col">{body(null)}</div>
        </Sheet>
      </>
    )
  }
  if (!isOpen) return stripOfButtons
  return (
    <aside
      aria-label="Side panel"
      // The list of conversations and a readable conversation stay beside it.
      style={{ width, maxWidth: 'calc(100% - 38rem)' }}
      className="relative flex shrink-0 flex-col border-l border-line"
    >
      <ResizeHandle
        label="Width of the side panel"
        width={width}
        least={panelWidths.least}
        most={panelWidths.most}
        onWidth={panel.onWidth}
      />
      {body(
        <IconButton
          label="Close the side panel"
          shortcut={panelKeys()}
          icon={<X aria-hidden />}
          onClick={panel.close}
        />,
      )}
    </aside>
  )
}

type StripProps = Pick<SidePanelProps, 'panel' | 'tabs'> & { ref: RefObject<HTMLDivElement | null> }

function Strip({ ref, panel, tabs }: StripProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      ref={ref}
      role="group"
      aria-label="Side panel"
      className="hidden w-11 shrink-0 flex-col items-center gap-1 border-l border-line py-2 md:flex"
    >
      {tabs.map(({ id, label, Icon }) => (
        <IconButton
          key={id}
          label={`Open ${label.toLowerCase()}`}
          shortcut={id === panel.tab ? panelKeys() : undefined}
          data-current={id === panel.tab || undefined}
          icon={<Icon aria-hidden />}
          onClick={() => panel.open(id)}
        />
      ))}
    </div>
  )
}

/** The button of a closed panel takes the focus that the panel had. */
function useFocusAfterClose(strip: RefObject<HTMLDivElement | null>, isOpen: boolean): void {
  const wasOpen = useRef(isOpen)
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body)
      strip.current?.querySelector<HTMLElement>('[data-current]')?.focus()
    wasOpen.current = isOpen
  }, [strip, isOpen])
}
