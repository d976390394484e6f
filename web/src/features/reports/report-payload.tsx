import type { Report } from '@roost/contracts/operations/reports'
import { Suspense, useMemo } from 'react'
import { Card } from '../../ui/card.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { PlainText } from '../../ui/plain-text.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { ReportTableView } from './report-table.tsx'
import { ReportTimeline } from './report-timeline.tsx'
import { kpisOf, markdownOf, tableOf, timelineOf } from './shapes.ts'

const Markdown = lazyPart(async () => (await import('../../ui/markdown.tsx')).Markdown)

/** The payload in the requested format, or as JSON when it does not match. */
export function ReportPayload({ payload, display_hint: hint }: Pick<Report, 'payload' | 'display_hint'>) {
  const shown = useMemo(() => {
    if (hint === 'table') return { kind: 'table', table: tableOf(payload) } as const
    if (hint === 'kpi') return { kind: 'kpi', kpis: kpisOf(payload) } as const
    if (hint === 'timeline') return { kind: 'timeline', entries: timelineOf(payload) } as const
    if (hint === 'markdown' || (hint === null && typeof payload === 'string'))
      return { kind: 'markdown', text: markdownOf(payload) } as const
    return { kind: 'json' } as const
  }, [payload, hint])
  if (shown.kind === 'table' && shown.table) return <ReportTableView table={shown.table} />
  if (shown.kind === 'timeline' && shown.entries) {
    return (
      <Card>
        <ReportTimeline entries={shown.entries} />
      </Card>
    )
  }
  if (shown.kind === 'markdown' && shown.text !== null) {
    return (
      <Card>
        <div className="max-w-3xl">
          <Suspense fallback={<SkeletonText lines={6} />}>
            <Markdown text={shown.text} />
          </Suspense>
        </div>
      </Card>
    )
  }
  if (shown.kind === 'kpi' && shown.kpis) {
    return (
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-4">
        {shown.kpis.map(({ label, value, hint: more }) => (
          <StatCard key={label} label={label} value={value} hint={more} />
        ))}
      </div>
    )
  }
  const isMisfit = hint !== null && hint !== 'json'
  return (
    <PlainText
      text={JSON.stringify(payload, null, 2)}
      label="Payload"
      {...(isMisfit
        ? { note: `The payload does not match the format “${hint}”, so it is shown as JSON.` }
        : {})}
    />
  )
}
