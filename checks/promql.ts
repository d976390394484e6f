/** The metrics and labels that a PromQL expression names. */
export type Named = { metrics: string[]; labels: string[] }

const keywords = new Set(
  'and or unless by without on ignoring group_left group_right bool offset inf nan atan2 start end'.split(
    ' ',
  ),
)
const groupings = new Set('by without on ignoring group_left group_right'.split(' '))
/** The functions and aggregations that the dashboards may use; a misspelt one fails the check. */
const functions = new Set(
  (
    'abs absent absent_over_time avg avg_over_time bottomk ceil changes clamp clamp_max clamp_min count ' +
    'count_over_time count_values day_of_week delta deriv exp floor group histogram_quantile hour idelta increase ' +
    'irate label_join label_replace ln log10 log2 max max_over_time min min_over_time minute month predict_linear ' +
    'quantile quantile_over_time rate resets round scalar sgn sort sort_desc sqrt stddev stdvar sum sum_over_time ' +
    'time timestamp topk vector year'
  ).split(' '),
)

const token =
  /(?<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)|(?<number>0x[\da-f]+|\d+(?:\.\d*)?(?:e[+-]?\d+)?(?:ms|[smhdwy])?|\.\d+)|(?<word>[a-z_:][\w:]*)|(?<operator>=~|!~|!=|==|<=|>=|[-+*/%^<>=(){}[\],:@])|(?<space>\s+)/iy

/** Reads the tokens of an expression. Throws for a character that PromQL has not, and for an unknown function. */
export function namesIn(expression: string): Named {
  const tokens = tokensOf(expression)
  const metrics = new Set<string>()
  const labels = new Set<string>()
  let inBraces = false
  let inGrouping = false
  for (const [index, { kind, text }] of tokens.entries()) {
    if (text === '{') inBraces = true
    else if (text === '}') inBraces = false
    else if (text === ')') inGrouping = false
    else if (text === '(') inGrouping = groupings.has(tokens[index - 1]?.text.toLowerCase() ?? '')
    if (kind !== 'word') continue
    if (inBraces || inGrouping) labels.add(text)
    else if (keywords.has(text.toLowerCase())) continue
    else if (tokens[index + 1]?.text === '(' || groupings.has(tokens[index + 1]?.text ?? '')) {
      if (!functions.has(text)) throw new Error(`PromQL has no function ${text}: ${expression}`)
    } else metrics.add(text)
  }
  return { metrics: [...metrics], labels: [...labels] }
}

function tokensOf(expression: string): { kind: string; text: string }[] {
  const tokens: { kind: string; text: string }[] = []
  token.lastIndex = 0
  while (token.lastIndex < expression.length) {
    const at = token.lastIndex
    const match = token.exec(expression)
    if (!match?.groups) throw new Error(`Not PromQL at ${at}: ${expression}`)
    const [kind = ''] = Object.entries(match.groups).find(([, text]) => text !== undefined) ?? []
    if (kind !== 'space') tokens.push({ kind, text: match[0] })
  }
  return tokens
}
