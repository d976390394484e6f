import { ExactTime } from '../../ui/time.tsx'
import type { TimelineEntry } from './shapes.ts'

/** Events in the order of the report. */
export function ReportTimeline({ entries }: { entries: readonly TimelineEntry[] }) {
  return (
    <ol className="flex flex-col border-l border-line-strong pl-4">
      {entries.map(({ at, title, text }, index) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: entries are identified only by their position
          key={index}
          className="relative pb-4 text-sm [contain-intrinsic-size:auto_48px] before:absolute before:top-1.5 before:-left-5 before:size-2 before:rounded-full before:bg-accent last:pb-0"
        >
          {at !== null && (
            <p className="text-muted text-xs">{Number.isNaN(Date.parse(at)) ? at : <ExactTime at={at} />}</p>
          )}
          <p className="break-words font-medium">{title}</p>
          {text !== null && <p className="mt-0.5 whitespace-pre-wrap break-words text-muted">{text}</p>}
        </li>
      ))}
    </ol>
  )
}
