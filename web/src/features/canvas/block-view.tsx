import type { CanvasBlock } from '@roost/contracts/conversations/canvas-blocks'
import { Suspense, useId } from 'react'
import { cx } from '../../ui/class-names.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Skeleton, SkeletonText } from '../../ui/skeleton.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { ReportTimeline } from '../reports/report-timeline.tsx'
import { ImageBlock } from './image-block.tsx'
import { TableBlock } from './table-block.tsx'

const Markdown = lazyPart(async () => (await import('../../ui/markdown.tsx')).Markdown)
const ChartBlock = lazyPart(async () => (await import('./chart-block.tsx')).ChartBlock)
const DiagramBlock = lazyPart(async () => (await import('../../ui/diagram-block.tsx')).DiagramBlock)
const HtmlBlock = lazyPart(async () => (await import('./html-block.tsx')).HtmlBlock)

export type BlockContext = {
  /** Heading level of the blocks: one below that of the canvas. */
  Heading: 'h2' | 'h3'
  /** The agent whose files the reader may read; null: none. */
  filesOf: string | null
}
type BlockViewProps = BlockContext & { block: CanvasBlock }

/** One block with its heading. Figures are cards already; other blocks get a card. */
export function BlockView({ block, Heading, filesOf }: BlockViewProps) {
  const heading = useId()
  const { title, kind } = block
  return (
    <section
      aria-labelledby={title ? heading : undefined}
      className={cx(
        'min-w-0 break-inside-avoid',
        kind !== 'kpi' && 'rounded-lg border border-line bg-surface p-4',
      )}
    >
      {title && (
        <Heading id={heading} className="mb-3 break-words font-semibold text-base">
          {title}
        </Heading>
      )}
      <Suspense fallback={<Skeleton className="h-32 w-full" />}>
        <Content block={block} filesOf={filesOf} />
      </Suspense>
    </section>
  )
}

function Content({ block, filesOf }: Omit<BlockViewProps, 'Heading'>) {
  const label = block.title || names[block.kind]
  switch (block.kind) {
    case 'chart':
      return <ChartBlock payload={block.payload} label={label} />
    case 'kpi':
      return (
        <div className="grid grid-cols-[repeat(auto-fill,minmax(min(10rem,100%),1fr))] gap-3">
          {block.payload.tiles.map(({ label: name, value, unit }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: tiles are identified only by their position
            <StatCard key={index} label={name} value={figure(value, unit)} />
          ))}
        </div>
      )
    case 'table':
      return <TableBlock {...block.payload} label={label} />
    case 'timeline':
      return (
        <ReportTimeline
          entries={block.payload.events.map(({ ts, label: what, detail }) => ({
            at: ts,
            title: what,
            text: detail || null,
          }))}
        />
      )
    case 'markdown':
      return (
        <Suspense fallback={<SkeletonText lines={4} />}>
          <Markdown text={block.payload.markdown} className="max-w-3xl" />
        </Suspense>
      )
    case 'diagram':
      return <DiagramBlock source={block.payload.mermaid} label={label} />
    case 'html':
      return <HtmlBlock html={block.payload.html} label={label} />
    case 'json':
      return <CodeBlock code={JSON.stringify(block.payload, null, 2)} language="json" />
    case 'image':
      return <ImageBlock payload={block.payload} label={label} filesOf={filesOf} />
  }
}

/** The name of a block without a heading. */
const names: Record<CanvasBlock['kind'], string> = {
  chart: 'Chart',
  kpi: 'Figures',
  table: 'Table',
  timeline: 'Timeline',
  markdown: 'Text',
  diagram: 'Diagram',
  html: 'HTML',
  json: 'Data',
  image: 'Image',
}

function figure(value: string | number, unit: string | null | undefined): string {
  const shown = typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 4 }) : value
  return unit ? `${shown} ${unit}` : shown
}
