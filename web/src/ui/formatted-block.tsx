import { ExternalLink } from 'lucide-react'
import { Component, type ComponentProps, type ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { CodeBlock } from './code-block.tsx'
import { PlainText } from './plain-text.tsx'
import { safeLink } from './safe-link.ts'

/** One block of Markdown. What the parser cannot take is shown as it was written. */
export function FormattedBlock({ source }: { source: string }) {
  return (
    <AsWritten key={source.length > 2000 ? source.length : 0} source={source}>
      <div className={flow}>
        <ReactMarkdown remarkPlugins={plugins} components={components} urlTransform={asIs}>
          {source}
        </ReactMarkdown>
      </div>
    </AsWritten>
  )
}

const plugins = [remarkGfm]
const flow = 'flex min-w-0 flex-col gap-3 [&_li>p]:inline'

/** Links and pictures are judged where they are shown, so that a refused one can say what it was. */
const asIs = (url: string) => url

type Props<Tag extends keyof React.JSX.IntrinsicElements> = ComponentProps<Tag> & { node?: unknown }
