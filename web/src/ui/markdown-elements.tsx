import { ExternalLink, Image, Square, SquareCheck } from 'lucide-react'
import { Children, type ReactNode } from 'react'
import type { Components } from 'react-markdown'
import { cx } from './class-names.ts'
import { CodeBlock } from './code-block.tsx'
import { safeLink } from './safe-link.ts'
import { ScrollRegion } from './scroll-region.tsx'

/** The style of each element of formatted text. Only the attributes named here are kept. */
export const markdownElements: Components = {
  h1: ({ children, id }) => (
    <Heading id={id} className="mt-2 text-lg font-semibold">
      {children}
    </Heading>
  ),
  h2: ({ children, id }) => (
    <Heading id={id} className="mt-2 text-base font-semibold">
      {children}
    </Heading>
  ),
  h3: ({ children, id }) => (
    <Heading id={id} className="mt-1 text-base font-semibold">
      {children}
    </Heading>
  ),
  h4: ({ children, id }) => (
    <Heading id={id} className="mt-1 text-sm font-semibold">
      {children}
    </Heading>
  ),
  h5: ({ children, id }) => (
    <Heading id={id} className="text-sm font-semibold">
      {children}
    </Heading>
  ),
  h6: ({ children, id }) => (
    <Heading id={id} className="text-sm font-semibold text-muted">
      {children}
    </Heading>
  ),
  p: ({ children }) => <p>{children}</p>,
  a: ({ href, children, id }) => (
    <Link url={href ?? ''} id={id}>
      {children}
    </Link>
  ),
  img: ({ src, alt }) => <Picture url={typeof src === 'string' ? src : ''} alt={alt ?? ''} />,
  ul: ({ children, className }) => (
    <ul className={cx(list, isTasks(className) ? 'list-none pl-0.5' : 'list-disc pl-6')}>{children}</ul>
  ),
  ol: ({ children, start, className }) => (
    <ol start={start} className={cx(list, isTasks(className) ? 'list-none pl-0.5' : 'list-decimal pl-7')}>
      {children}
    </ol>
  ),
  li: ({ children, id }) => (
    // Never `* + *`: such a rule makes the browser match every list again when a child is added.
    <li id={id} className="min-w-0 marker:text-faint [&>:not(:first-child)]:mt-1.5">
      {children}
    </li>
  ),
  input: ({ checked }) => <TaskMark isDone={checked === true} />,
  blockquote: ({ children }) => (
    <blockquote className="flex flex-col gap-3 border-l-2 border-line-strong pl-4 text-muted">
      {children}
    </blockquote>
  ),
  hr: () => <hr className="my-1 border-line" />,
  table: ({ children }) => (
    <ScrollRegion
      label="Table"
      className="max-h-[70vh] max-w-full overflow-auto rounded-md border border-line"
    >
      <table className="w-full border-collapse text-sm">{children}</table>
    </ScrollRegion>
  ),
  th: ({ children, style }) => (
    <th
      scope="col"
      style={style}
      className="border-b border-line bg-sunken px-3 py-1.5 text-left font-medium whitespace-nowrap"
    >
      {children}
    </th>
  ),
  td: ({ children, style }) => (
    <td style={style} className="min-w-24 border-t border-line px-3 py-1.5 align-top">
      {children}
    </td>
  ),
  pre: ({ children }) => <Preformatted>{children}</Preformatted>,
  code: ({ children }) => <InlineCode>{children}</InlineCode>,
  sup: ({ children, id }) => <sup id={id}>{children}</sup>,
  section: ({ children }) => (
    <section className="border-t border-line pt-2 text-sm text-muted">{children}</section>
  ),
}

export function InlineCode({ children }: { children?: ReactNode }) {
  return (
    <code className="rounded-sm border border-line bg-sunken px-1 py-px font-mono text-[0.9em] [font-variant-ligatures:none]">
      {children}
    </code>
  )
}

const list = 'flex flex-col gap-1'

function isTasks(className: string | undefined): boolean {
  return className?.includes('contains-task-list') ?? false
}

type HeadingProps = { id?: string; className: string; children?: ReactNode }

/** All headings get one level: the author of the text does not know the level of the page around it. */
function Heading({ id, className, children }: HeadingProps) {
  // An empty heading says nothing to a screen reader.
  if (Children.count(children) === 0) return null
  return (
    <h3 id={id} className={className}>
      {children}
    </h3>
  )
}

const linkClass = 'text-accent underline decoration-from-font underline-offset-2 hover:text-accent-hover'

function Link({ url, id, children }: { url: string; id?: string; children?: ReactNode }) {
  const link = safeLink(url, location.origin)
  if (!link) return <span title={`Blocked link: ${url.slice(0, 200)}`}>{children}</span>
  if (!link.isExternal)
    return (
      <a href={link.href} id={id} className={linkClass}>
        {children}
      </a>
    )
  return (
    <a href={link.href} title={link.href} target="_blank" rel="noopener noreferrer" className={linkClass}>
      {children}
      <ExternalLink aria-hidden className="ml-0.5 inline size-3 align-baseline" />
      <span className="sr-only"> (opens a new tab)</span>
    </a>
  )
}

/** An image loads only on click: fetching it would tell its server who reads the text and when. */
function Picture({ url, alt }: { url: string; alt: string }) {
  const words = alt.trim() === '' ? 'Picture' : alt
  return (
    <span className="inline-flex max-w-full items-center gap-1 align-bottom">
      <Image aria-hidden className="size-3.5 shrink-0 text-faint" />
      <Link url={url}>{words}</Link>
    </span>
  )
}

function TaskMark({ isDone }: { isDone: boolean }) {
  const Icon = isDone ? SquareCheck : Square
  const colour = isDone ? 'text-success' : 'text-faint'
  return (
    <Icon
      role="img"
      aria-label={isDone ? 'Done' : 'Not done'}
      className={cx('mr-1.5 inline size-4 align-text-bottom', colour)}
    />
  )
}

/** Code inside a list or quote. Fenced top-level code is rendered elsewhere. */
function Preformatted({ children }: { children?: ReactNode }) {
  const [code] = Children.toArray(children)
  if (typeof code !== 'object' || !('props' in code)) return <pre>{children}</pre>
  // The parser puts one <code> with its text into a <pre>.
  const { className, children: text } = code.props as { className?: string; children?: ReactNode }
  const language = /language-(\S+)/.exec(className ?? '')?.[1] ?? ''
  return <CodeBlock code={Children.toArray(text).join('').replace(/\n$/, '')} language={language} />
}
