import { BookOpen } from 'lucide-react'
import { Dialog } from '../ui/dialog.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { useApp } from './app-context.ts'
import { shortcutGroups } from './shortcuts.ts'

/** `guide`: a path below `docs/`, without `.md`. */
export type PageHelpProps = { guide: string; topic: string }

/** The guide of the page, which opens apart so that unsaved input stays, and the shortcuts. */
export function HelpDialog({ guide, topic, onClose }: PageHelpProps & { onClose(): void }) {
  const { session } = useApp()
  const groups = shortcutGroups(session.token() !== null)
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Help" size="lg">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 pt-1">
        <a
          href={`/help/${guide}`}
          target="_blank"
          rel="noreferrer"
          data-autofocus
          className="flex min-w-0 items-center gap-2 rounded-md border border-line bg-surface px-3 py-2 font-medium text-sm hover:border-line-strong"
        >
          <BookOpen aria-hidden className="size-4 shrink-0 text-accent" />
          <span className="min-w-0 break-words">Guide: {topic}</span>
        </a>
        <a href="/help" target="_blank" rel="noreferrer" className="text-accent text-sm hover:underline">
          All guides
        </a>
      </div>
      <h3 className="mt-5 mb-3 font-semibold text-ink text-sm">Keyboard shortcuts</h3>
      <div className="gap-x-8 sm:columns-2">
        {groups.map(({ title, shortcuts }) => (
          <section key={title} aria-label={title} className="mb-4 break-inside-avoid">
            <h4 className="mb-1 text-muted text-xs">{title}</h4>
            <dl className="divide-y divide-line">
              {shortcuts.map(({ keys, isSequence, label }) => (
                <div key={label} className="flex items-center justify-between gap-3 py-1.5 text-sm">
                  <dt>{label}</dt>
                  <dd>
                    {isSequence ? (
                      <span className="inline-flex items-center gap-1 text-muted text-xs">
                        <Kbd keys={keys.slice(0, 1)} /> then <Kbd keys={keys.slice(1)} />
                      </span>
                    ) : (
                      <Kbd keys={[...keys]} />
                    )}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
