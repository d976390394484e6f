import { costText, formatExactCost } from '../lib/format.ts'

/** Explains the mark of an estimated cost. */
export const estimateHint =
  'Estimated: the price table has no row for a model, so the price of its family applies, or a provider reported no usage.'

/**
 * Dollars with two significant digits, exact on hover. An estimate is marked with "≈" and explained on hover; null, an
 * unknown cost, is a dash.
 */
export function Cost({
  usd,
  isEstimated = false,
  className,
}: {
  usd: number | null | undefined
  isEstimated?: boolean | undefined
  className?: string
}) {
  if (usd === null || usd === undefined) return <span className="text-faint">–</span>
  const exact = formatExactCost(usd)
  return (
    <span data-numeric title={isEstimated ? `${exact}. ${estimateHint}` : exact} className={className}>
      {costText(usd, isEstimated)}
      {isEstimated && <span className="sr-only"> (estimated)</span>}
    </span>
  )
}
