import { Component, type ReactNode, useId } from 'react'
import ReactMarkdown, { type Components, type Options } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { markdownElements } from './markdown-elements.tsx'
import { PlainText } from './plain-text.tsx'

export type FormattedTextProps = {
  source: string
  plugins?: NonNullable<Options['remarkPlugins']>
  elements?: Components
}

/** One block of Markdown. Text that cannot be parsed is shown unformatted. */
export function FormattedText({ source, plugins = gfm, elements = markdownElements }: FormattedTextProps) {
  const id = useId()
  return (
    <AsWritten source={source}>
      <div className="flex min-w-0 flex-col gap-3">
        <ReactMarkdown
          remarkPlugins={plugins}
          remarkRehypeOptions={{ clobberPrefix: `${id}-` }}
          components={elements}
          urlTransform={asIs}
        >
          {source}
        </ReactMarkdown>
      </div>
    </AsWritten>
  )
}

export const gfm = [remarkGfm]

/** Links and images are checked where they are rendered, so that a refused one can show its address. */
const asIs = (url: string) => url

/** React supports error boundaries only as classes. */
class AsWritten extends Component<{ source: string; children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false }
  static getDerivedStateFromError() {
    return { isBroken: true }
  }
  override render() {
    if (!this.state.isBroken) return this.props.children
    return <PlainText text={this.props.source} note="Shown as plain text, because it cannot be formatted." />
  }
}
