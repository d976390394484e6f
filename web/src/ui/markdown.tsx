import { memo, Suspense, useMemo } from 'react'
import { cx } from './class-names.ts'
import { CodeBlock } from './code-block.tsx'
import { FormattedBlock } from './formatted-block.tsx'
import { lazyPart } from './lazy-part.tsx'
import { type MarkdownBlock, markdownBlocks, maxFormattedLength } from './markdown-blocks.ts'
import { PlainText } from './plain-text.tsx'
import { useThrottled } from './use-throttled.ts'

export type MarkdownProps = {
  text: string
  /** More text will follow. */
  isStreaming?: boolean
  className?: string
}

/**
 * Renders untrusted Markdown. HTML is shown as text, links lead to the web or this site only, and images
 * become links. Contains the Markdown parser, so import it from lazily loaded pages only.
 */
export function Markdown({ text, isStreaming = false, className }: MarkdownProps) {
  // Parsing takes longer as the growing part gets longer, so it runs less often.
  const shown = useThrottled(text, isStreaming ? Math.min(1000, text.length / 400) : 0)
  const blocks = useMemo(() => (shown.length > maxFormattedLength ? null : markdownBlocks(shown)), [shown])
  if (blocks === null) {
    const size = text.length.toLocaleString('en')
    return (
      <PlainText
        text={shown}
        note={`Shown as plain text, because ${size} characters are too long to format.`}
        className={className}
      />
    )
  }
  return (
    <div
      className={cx('flex min-w-0 flex-col gap-3 text-base leading-6 [overflow-wrap:anywhere]', className)}
    >
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text is appended at the end, so a block keeps its position
        <Block key={index} {...block} isStreaming={isStreaming && index === blocks.length - 1} />
      ))}
    </div>
  )
}

/** In characters. A longer text would take long to draw, and longer to read. */
const longestDiagram = 20_000

const DiagramBlock = lazyPart(
  async () => (await import('./diagram-block.tsx')).DiagramBlock,
  ({ source }) => <CodeBlock code={source} language="mermaid" />,
)

/** Takes primitive props instead of an object, so that `memo` skips unchanged blocks. */
const Block = memo(function Block(props: MarkdownBlock & { isStreaming: boolean }) {
  if (props.kind === 'code') {
    const isGrowing = props.isStreaming && !props.isClosed
    const code = <CodeBlock code={props.code} language={props.language} isStreaming={isGrowing} />
    if (props.language !== 'mermaid' || isGrowing || props.code.length > longestDiagram) return code
    return (
      <figure className="min-w-0 rounded-md border border-line bg-surface p-3">
        <Suspense fallback={code}>
          <DiagramBlock source={props.code} label="Diagram" />
        </Suspense>
      </figure>
    )
  }
  if (props.isPlain)
    return <PlainText text={props.source} note="Shown as plain text, because it is too complex to format." />
  return <FormattedBlock source={props.source} />
})
