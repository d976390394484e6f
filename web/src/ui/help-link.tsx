import { CircleHelp } from 'lucide-react'

/** A link to the guide of a page. Opens apart, so that unsaved input stays. */
export function HelpLink({ guide, topic }: { guide: string; topic: string }) {
  return (
    <a
      href={`/help/${guide}`}
      target="_blank"
      rel="noreferrer"
      aria-label={`Guide: ${topic}`}
      title={`Guide: ${topic}`}
      className="grid size-7 shrink-0 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink"
    >
      <CircleHelp aria-hidden className="size-4" />
    </a>
  )
}
