import sanitizeHtml from 'sanitize-html'

const words = [
  ...[
    'a',
    'abbr',
    'b',
    'bdi',
    'bdo',
    'blockquote',
    'br',
    'cite',
    'code',
    'data',
    'del',
    'dfn',
    'em',
    'hr',
    'i',
  ],
  ...[
    'ins',
    'kbd',
    'mark',
    'p',
    'pre',
    'q',
    's',
    'samp',
    'small',
    'span',
    'strong',
    'sub',
    'sup',
    'time',
    'u',
  ],
  ...['var', 'wbr'],
]
const structure = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'div', 'section', 'article', 'aside', 'header', 'footer', 'main'],
  ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'figure', 'figcaption', 'details', 'summary', 'meter', 'progress'],
  ...['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'img'],
]

/**
 * HTML that tells and does nothing: no script, style, form, frame, handler, class or id is left of it. Pictures are
 * in the text itself, because a page that shows them asks no other server; links lead to the web and open apart.
 */
export function sanitise(html: string): string {
  return sanitizeHtml(html, {
    allowedTags: [...words, ...structure],
    allowedAttributes: {
      '*': ['title', 'lang', 'dir'],
      a: ['href', 'target', 'rel'],
      img: ['src', 'alt', 'width', 'height'],
      th: ['colspan', 'rowspan', 'scope', 'align'],
      td: ['colspan', 'rowspan', 'align'],
      col: ['span'],
      colgroup: ['span'],
      ol: ['start', 'reversed', 'type'],
      li: ['value'],
      time: ['datetime'],
      data: ['value'],
      details: ['open'],
      meter: ['value', 'min', 'max', 'low', 'high', 'optimum'],
      progress: ['value', 'max'],
    },
    allowedSchemes: ['https', 'http', 'mailto'],
    allowedSchemesByTag: { img: ['data'] },
    allowProtocolRelative: false,
    disallowedTagsMode: 'discard',
    enforceHtmlBoundary: false,
    transformTags: {
      a: (tagName, { href, title }) => ({
        tagName,
        attribs: {
          ...(title === undefined ? {} : { title }),
          ...(href === undefined ? {} : { href, target: '_blank', rel: 'noopener noreferrer' }),
        },
      }),
    },
    // A data address of another kind than a picture does nothing here either, and is still not kept.
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !/^data:image\//i.test(attribs.src ?? ''),
  })
}
