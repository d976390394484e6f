import type { AgentDetails } from '@roost/contracts/agents/agent'
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { SkeletonList } from '../../../ui/skeleton.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { type Place, rootPlace } from '../../workspace/paths.ts'
import type { LiveTurns } from '../live-turns.ts'
import { ChangesPart } from './changes-part.tsx'
import type { PanelTab, PanelTabId } from './panel-tabs.ts'

const FilesPart = lazyPart(async () => (await import('./files-part.tsx')).FilesPart)
const CanvasPart = lazyPart(async () => (await import('./canvas-part.tsx')).CanvasPart)
const ReportsPart = lazyPart(async () => (await import('./reports-part.tsx')).ReportsPart)
const Terminal = lazyPart(async () => (await import('../../terminal/terminal-tab.tsx')).TerminalTab)

export type PanelBodyProps = {
  agent: AgentDetails
  sessionId: string | null
  turns: LiveTurns
  tabs: readonly PanelTab[]
  tab: PanelTabId
  onTab: (tab: PanelTabId) => void
  /** The button that closes the panel; null where the frame has one. */
  close: ReactNode
}

/** The tabs of the panel and the current one. */
export function PanelBody({ agent, sessionId, turns, tabs, tab, onTab, close }: PanelBodyProps) {
  const [place, setPlace] = useState<Place>(rootPlace)
  const body = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The button that opened the panel is gone.
    if (document.activeElement === document.body)
      body.current?.querySelector<HTMLElement>('[role=tab][data-state=active]')?.focus()
  }, [])
  const parts: Record<PanelTabId, ReactNode> = {
    changes: (
      <ChangesPart
        key={sessionId}
        agentName={agent.name}
        sessionId={sessionId}
        turns={turns}
        onOpenFile={(path) => {
          setPlace({ kind: 'file', path })
          onTab('files')
        }}
      />
    ),
    files: <FilesPart agent={agent} place={place} onGo={setPlace} />,
    canvas: <CanvasPart agent={agent} />,
    reports: <ReportsPart agentName={agent.name} />,
    terminal: <Terminal agent={agent} />,
  }
  return (
    <div ref={body} className="flex min-h-0 flex-1 flex-col">
      <h2 className="sr-only">Side panel</h2>
      <Tabs
        fills
        label="Side panel"
        value={tab}
        // The values are those of `tabs`.
        onValueChange={(next) => onTab(next as PanelTabId)}
        aside={close}
        tabs={tabs.map(({ id, label, Icon }) => ({
          value: id,
          label,
          icon: <Icon aria-hidden />,
          content: (
            <Suspense fallback={<SkeletonList rows={4} label={`Loading ${label.toLowerCase()}`} />}>
              {parts[id]}
            </Suspense>
          ),
        }))}
      />
    </div>
  )
}
