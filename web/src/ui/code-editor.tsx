import { Suspense } from 'react'
import { cx } from './class-names.ts'
import type { CodeEditorSurfaceProps } from './code-editor-surface.tsx'
import { lazyPart } from './lazy-part.tsx'
import { PlainText } from './plain-text.tsx'
import { Skeleton } from './skeleton.tsx'

export type CodeEditorProps = CodeEditorSurfaceProps & {
  /** Needs a height; scrolls inside. */
  className?: string
}

/** Longer texts are read-only, in characters: each key press copies the whole text. */
export const maxEditableLength = 3_000_000

/** An editor for code and text, loaded on demand. Escape and then Tab leaves it by keyboard. */
export function CodeEditor({ className, ...props }: CodeEditorProps) {
  if (props.value.length > maxEditableLength) {
    const size = props.value.length.toLocaleString('en')
    return (
      <PlainText
        text={props.value}
        label={props.label}
        note={`This file has ${size} characters and is too long to edit here. The limit is ${maxEditableLength.toLocaleString('en')}.`}
      />
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
