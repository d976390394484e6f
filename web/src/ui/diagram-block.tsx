import { useQuery } from '@tanstack/react-query'
import { cx } from './class-names.ts'
import { CodeBlock } from './code-block.tsx'
import { drawDiagram, themeColours } from './draw-diagram.ts'
import { ScrollRegion } from './scroll-region.tsx'
import { Skeleton } from './skeleton.tsx'
import { useThemeName } from './use-theme-name.ts'

type DiagramBlockProps = {
  source: string
  label: string
  /** Scrolls instead of shrinking, so that the text of a wide or long diagram stays readable. */
  isFullSize?: boolean
}

/**
 * A diagram as an image, so that nothing an agent wrote can run. Its source text is below it, or alone when
 * the diagram type is not supported.
 */
export function DiagramBlock({ source, label, isFullSize = false }: DiagramBlockProps) {
  const theme = useThemeName()
  const drawing = useQuery({
    queryKey: ['diagram', source, theme],
    queryFn: ({ signal }) => drawDiagram(source, themeColours(), signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  })
  const code = <CodeBlock code={source} language="mermaid" />
  if (drawing.error) {
    return (
      <>
        <p className="mb-2 text-muted text-xs">Diagram not shown: {drawing.error.message}</p>
        {code}
      </>
    )
  }
  if (drawing.data === undefined) return <Skeleton className="h-48 w-full" />
  const image = (
    <img
      src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing.data)}`}
      alt={`${label}. The text version is below the image.`}
      className={cx('mx-auto', isFullSize ? 'max-w-none' : 'max-h-[36rem] max-w-full object-contain')}
    />
  )
  return (
    <>
      {isFullSize ? (
        <ScrollRegion label={label} className="overflow-x-auto">
          {image}
        </ScrollRegion>
      ) : (
        image
      )}
      <details className="mt-2 text-sm print:hidden">
        <summary className="w-fit cursor-default text-muted text-xs hover:text-ink">Text version</summary>
        <div className="mt-2">{code}</div>
      </details>
    </>
  )
}
