import type { Element } from 'hast'
import { type ReactNode, useEffect, useMemo } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { CodeBlock } from '../../ui/code-block.tsx'
import { DiagramBlock } from '../../ui/diagram-block.tsx'
import { markdownElements } from '../../ui/markdown-elements.tsx'
import { pictureAddress } from './content.ts'
import { GuideLink } from './guide-link.tsx'
import { guidePath, type Heading, headingsOf, resolveLink } from './guide-text.ts'

type GuideArticleProps = { page: string; markdown: string; hash: string }

/** One page of the guides, mounted anew for each page. Its text is part of the application, unlike that of agents. */
export function GuideArticle({ page, markdown, hash }: GuideArticleProps) {
  const components = useMemo(() => elementsOf(page, headingsOf(markdown)), [page, markdown])
  useEffect(() => {
    // The text loads after the router has looked for the anchor.
    const target = hash === '' ? null : document.getElementById(hash)
    if (target) target.scrollIntoView()
    else window.scrollTo(0, 0)
  }, [hash])
  return (
    <article className="flex min-w-0 flex-col gap-4 text-base leading-7 [overflow-wrap:anywhere]">
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {markdown}
      </ReactMarkdown>
    </article>
  )
}

const plugins = [remarkGfm]

const headingClass: Record<number, string> = {
  1: 'text-2xl font-semibold tracking-tight',
  2: 'mt-6 border-t border-line pt-5 text-xl font-semibold tracking-tight',
  3: 'mt-3 text-base font-semibold',
}

/** The elements of untrusted text, except for those that know the page. */
function elementsOf(page: string, headings: readonly Heading[]): Components {
  const slugAt = new Map(headings.map(({ line, slug }) => [line, slug]))
  const heading = (depth: 1 | 2 | 3) => {
    const Tag = `h${depth}` as const
    return ({ node, children }: { node?: Element; children?: ReactNode }) => (
      <Tag id={slugAt.get(node?.position?.start.line ?? 0)} className={`scroll-mt-20 ${headingClass[depth]}`}>
        {children}
      </Tag>
    )
  }
  return {
    ...markdownElements,
    h1: heading(1),
    h2: heading(2),
    h3: heading(3),
    a: ({ href = '', children, ...rest }) => {
      const link = resolveLink(page, href)
      if (link.kind === 'guide')
        return (
          <GuideLink path={guidePath(link.page, link.hash)} className={linkClass}>
            {children}
          </GuideLink>
        )
      if (link.kind === 'file')
        return <span title={`${link.path}, in the folder of the project`}>{children}</span>
      const Outside = markdownElements.a
      return typeof Outside === 'function' ? (
        <Outside href={href} {...rest}>
          {children}
        </Outside>
      ) : null
    },
    img: ({ src, alt = '' }) => {
      const link = resolveLink(page, typeof src === 'string' ? src : '')
      const address = link.kind === 'file' ? pictureAddress(link.path) : undefined
      if (address === undefined) return <em>{alt}</em>
      return (
        <img
          src={address}
          alt={alt}
          loading="lazy"
          className="h-auto max-w-full rounded-md border border-line"
        />
      )
    },
    // The tables of the start page have no headings.
    th: ({ children, style }) =>
      children === undefined ? (
        <td />
      ) : (
        <th
          scope="col"
          style={style}
          className="border-b border-line bg-sunken px-3 py-1.5 text-left font-medium whitespace-nowrap"
        >
          {children}
        </th>
      ),
    pre: ({ node }) => <Block node={node} label={headings[0]?.text ?? page} />,
  }
}

const linkClass = 'text-accent underline decoration-from-font underline-offset-2 hover:text-accent-hover'

/** A code block of the page; Mermaid is drawn. */
function Block({ node, label }: { node: Element | undefined; label: string }) {
  const [code] = node?.children ?? []
  if (code?.type !== 'element') return null
  const [text] = code.children
  const source = text?.type === 'text' ? text.value.replace(/\n$/, '') : ''
  const [className] = [code.properties.className].flat()
  const language = String(className ?? '').replace('language-', '')
  if (language !== 'mermaid') return <CodeBlock code={source} language={language} />
  return (
    <figure className="rounded-md border border-line bg-surface p-3">
      <DiagramBlock source={source} label={`Diagram: ${label}`} isFullSize />
    </figure>
  )
}
