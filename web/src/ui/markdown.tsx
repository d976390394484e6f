import { memo, useMemo } from 'react'
import { cx } from './class-names.ts'
import { CodeBlock } from './code-block.tsx'
import { FormattedBlock } from './formatted-block.tsx'
import { type MarkdownBlock, markdownBlocks, maxFormattedLength } from './markdown-blocks.ts'
import { PlainText } from './plain-text.tsx'
import { usePaced } from './use-paced.ts'

export type MarkdownProps = {
  text: string
  /** More text is coming at the end. */
  isStreaming?: boolean
  className?: string
}

/**
 * Markdown that somebody else wrote. HTML in it is shown as text, links lead to the web or this site only, and
 * pictures become links, so that reading a text tells nobody that it was read. Text that is too long to be
 * formatted is shown as it was written.
 *
 * Brings the Markdown parser: import it from pages that are loaded when they are needed.
 */
export function Markdown({ text, isStreaming = false, className }: MarkdownProps) {
  // The longer the part that is being written, the longer it takes to read it again.
  const shown = usePaced(text, isStreaming ? Math.min(1000, text.length / 400) : 0)
  const blocks = useMemo(() => (shown.length > maxFormattedLength ? null : markdownBlocks(shown)), [shown])
  if (blocks === null) {
    const size = text.length.toLocaleString('en')
    return <PlainText text={shown} note={`${size} characters, too long to format.`} className={className} />
  }
  return (
    <div
      className={cx('flex min-w-0 flex-col gap-3 text-base leading-6 [overflow-wrap:anywhere]', className)}
    >
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text grows at its end, so a block keeps its place
        <Block key={index} {...block} isStreaming={isStreaming && index === blocks.length - 1} />
      ))}
    </div>
  )
}

/** Given its parts and not the object, so that a block of the same text is not read again. */
const Block = memo(function Block(props: MarkdownBlock & { isStreaming: boolean }) {
  if (props.kind === 'code')
    return (
      <CodeBlock
        code={props.code}
        language={props.language}
        isStreaming={props.isStreaming && !props.isClosed}
      />
    )
  if (props.isPlain)
    return <PlainText text={props.source} note="Shown as it was written: too much to format." />
  return <FormattedBlock source={props.source} />
})
