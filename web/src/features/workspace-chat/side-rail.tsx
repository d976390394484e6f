import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { type ComponentType, Suspense } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { useMediaQuery } from '../../ui/use-media-query.ts'
import { AboutAgent } from './about-agent.tsx'
import { Clients } from './clients.tsx'
import { Documents } from './documents.tsx'

const route = getRouteApi('/workspace/frame')

const Canvases = lazyPart(async () => (await import('../canvas/roster-canvases.tsx')).RosterCanvases)

const Reports = lazyPart(async () => (await import('../reports/roster-reports.tsx')).RosterReports)

const parts: Record<string, { title: string; Content: ComponentType<{ agent: RosterAgent }> }> = {
  canvas: { title: 'Canvases', Content: Canvases },
  reports: { title: 'Reports', Content: Reports },
  files: { title: 'Files', Content: Documents },
  people: { title: 'Users', Content: Clients },
  info: { title: 'About this agent', Content: AboutAgent },
}

/** The panel beside the conversation that the address names; over it on narrow screens. */
export function SideRail({ agent }: { agent: RosterAgent }) {
  const { rail } = route.useSearch()
  const navigate = useNavigate()
  const isWide = useMediaQuery('(min-width: 64rem)')
  const part = rail === 'people' && !agent.owned ? undefined : parts[rail ?? '']
  const close = () =>
    void navigate({
      to: '.',
      search: (now) => ({ ...now, rail: undefined }),
      replace: true,
      resetScroll: false,
    })
  if (!part) return null
  const { title, Content } = part
  const content = (
    <Suspense fallback={<SkeletonList rows={3} />}>
      <Content agent={agent} />
    </Suspense>
  )
  if (!isWide) {
    return (
      <Sheet open onOpenChange={close} title={title}>
        {content}
      </Sheet>
    )
  }
  return (
    <aside aria-label={title} className="flex w-80 shrink-0 flex-col border-l border-line">
      <div className="flex h-11 shrink-0 items-center justify-between border-b border-line pr-3 pl-4">
        <h2 className="font-medium text-sm">{title}</h2>
        <IconButton label={`Close ${title.toLowerCase()}`} icon={<X aria-hidden />} onClick={close} />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">{content}</div>
    </aside>
  )
}
