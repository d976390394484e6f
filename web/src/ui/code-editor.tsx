import { Suspense } from 'react'
import { cx } from './class-names.ts'
import type { CodeEditorSurfaceProps } from './code-editor-surface.tsx'
import { lazyPart } from './lazy-part.tsx'
import { PlainText } from './plain-text.tsx'
import { Skeleton } from './skeleton.tsx'

export type CodeEditorProps = CodeEditorSurfaceProps & {
  /** Give it a height: it scrolls by itself. */
  className?: string
}

/** Above this a text is only shown: every key would copy all of it. In characters. */
export const maxEditableLength = 3_000_000

/** An editor for code and text, loaded when it is first shown. Escape and then Tab leaves it by keyboard. */
export function CodeEditor({ className, ...props }: CodeEditorProps) {
  if (props.value.length > maxEditableLength) {
    const size = props.value.length.toLocaleString('en')
    return (
      <PlainText text={props.value} label={props.label} note={`${size} characters, too long to edit here.`} />
    )
  }
  return (
    <div
      className={cx(
        'relative min-h-40 min-w-0 overflow-hidden rounded-md border border-line bg-surface has-[.cm-focused]:border-focus has-[.cm-focused]:outline-1 has-[.cm-focused]:outline-focus',
        className,
      )}
    >
      <Suspense fallback={<Skeleton className="absolute inset-0 h-auto rounded-none" />}>
        <Surface {...props} />
      </Suspense>
    </div>
  )
}

const Surface = lazyPart(async () => (await import('./code-editor-surface.tsx')).CodeEditorSurface)
