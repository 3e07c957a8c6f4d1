// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "messages/language.h"
#include "messages/report.h"
#include "profiler/plan/text.h"
#include "profiler/report/writers.h"

namespace attnscope::report {
namespace {

constexpr std::string_view page_style = R"css(
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem 1.2rem 3rem;max-width:60rem;background:var(--surface);color:var(--ink);font:15px/1.5 system-ui,'Segoe UI','DejaVu Sans',sans-serif}
h1{margin:.2rem 0;font-size:1.7rem}
h3{margin:1.1rem 0 .3rem;font-size:1rem}
a{color:var(--accent)}p{margin:.45rem 0}
figure{margin:1rem 0;break-inside:avoid}figcaption,caption{text-align:left;font-size:.88rem;padding:.3rem 0}
svg{display:block;width:100%;height:auto}figure svg:focus-visible{outline:2px solid var(--accent)}
.said{min-height:1.4em;font-size:.88rem;font-variant-numeric:tabular-nums}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.82rem;font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid var(--grid);padding:.18rem .5rem;text-align:left;vertical-align:top}.n{text-align:right}
td{overflow-wrap:break-word;min-width:2.5rem}td.n{white-space:nowrap}td.w{min-width:11rem}
th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--accent)}
th[aria-sort=ascending] button::after{content:" ▲"}th[aria-sort=descending] button::after{content:" ▼"}
tr:target{outline:2px solid var(--accent)}footer{margin-top:3rem;font-size:.82rem}
@page{size:A4;margin:18mm 14mm 18mm}
@media print{td{min-width:0}td.w{min-width:38mm}
th button{display:contents}body{max-width:none;padding:0;font-size:10pt}.said,th button::after{display:none}
h3,caption{break-after:avoid}h3{font-size:9.5pt;margin:.8rem 0 .2rem}figcaption,caption{font-size:8pt}.map svg{width:88%}
tr{break-inside:avoid}thead{display:table-header-group;break-inside:avoid}.wide{overflow:visible}table{font-size:6.5pt}th,td{padding:.1rem .25rem}
a{color:inherit;text-decoration:none}details:not([open]){display:none}}
)css";

// Read-outs on hover and arrow keys, and sortable tables. Inserts text nodes only.
constexpr std::string_view script = R"js(
(function(){'use strict';
document.querySelectorAll('figure').forEach(function(figure){
var svg=figure.querySelector('svg'),said=figure.querySelector('.said');if(!svg||!said)return;
var marks=Array.prototype.slice.call(svg.querySelectorAll('.m')),at=-1;
marks.forEach(function(m){var t=m.querySelector('title');m.said=t?t.textContent:'';if(t)m.removeChild(t)});
function show(k){if(at>=0)marks[at].classList.remove('on');at=k;if(k<0){said.textContent='';return}
marks[k].classList.add('on');said.textContent=marks[k].said}
svg.addEventListener('mouseover',function(e){var m=e.target.closest('.m');if(m)show(marks.indexOf(m))});
svg.addEventListener('keydown',function(e){var n=marks.length,k=at;if(!n)return;
if(e.key==='ArrowRight'||e.key==='ArrowDown')k=Math.min(n-1,at+1);else if(e.key==='ArrowLeft'||e.key==='ArrowUp')k=Math.max(0,at-1);
else if(e.key==='Home')k=0;else if(e.key==='End')k=n-1;else if(e.key==='Escape')k=-1;else return;e.preventDefault();show(k)});
svg.setAttribute('tabindex','0')});
function of(cell){return cell.getAttribute('data-v')||cell.textContent}
document.querySelectorAll('table').forEach(function(table){if(!table.tHead||table.tBodies[0].rows.length<2)return;
Array.prototype.forEach.call(table.tHead.rows[0].cells,function(head,column){
var b=document.createElement('button');b.type='button';b.textContent=head.textContent;head.textContent='';head.appendChild(b);
b.addEventListener('click',function(){var up=head.getAttribute('aria-sort')!=='ascending',number=head.classList.contains('n');
Array.prototype.forEach.call(table.tHead.rows[0].cells,function(h){h.removeAttribute('aria-sort')});
head.setAttribute('aria-sort',up?'ascending':'descending');
var rows=Array.prototype.slice.call(table.tBodies[0].rows);
rows.sort(function(a,b){var p=a.cells[column],q=b.cells[column],x=of(p),y=of(q),o;
if(number||p.hasAttribute('data-v')&&q.hasAttribute('data-v')){x=x===''?Infinity:parseFloat(x);y=y===''?Infinity:parseFloat(y);o=x===y?0:x<y?-1:1}else o=x<y?-1:x>y?1:0;return up?o:-o});
rows.forEach(function(r){table.tBodies[0].appendChild(r)})})})});
})();
)js";

constexpr std::size_t max_expanded_points = 20;

/// Escapes a string for CSS: characters other than ASCII letters, digits and spaces become numeric escapes.
std::string css_string(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80 || byte == ' ' || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                       (byte >= 'A' && byte <= 'Z');
    safe += plain ? std::string(1, c) : fmt::format("\\{:06x} ", byte);
  }
  return safe;
}

std::string linked(const std::string& words, std::optional<analysis::Row> row) {
  return row ? fmt::format(R"(<a href="#row-{}">{}</a>)", static_cast<std::size_t>(*row) + 1, markup(words))
             : markup(words);
}

void write(std::string& out, const Paragraph& paragraph) {
  out += paragraph.heading ? "<h3>" : "<p>";
  for (const LinkedText& words : paragraph.words) out += linked(words.text, words.row);
  out += paragraph.heading ? "</h3>\n" : "</p>\n";
}

void write(std::string& out, const Table& table) {
  using analysis::ColumnKind;
  out += fmt::format(R"(<div class="wide"><table id="{}"><caption>{}</caption><thead><tr>)", table.key,
                     markup(table.caption));
  for (const analysis::Column& column : table.columns) {
    out += fmt::format(R"(<th scope="col"{}>{}</th>)", column.kind == ColumnKind::number ? R"( class="n")" : "",
                       markup(column.title));
  }
  out += "</tr></thead><tbody>\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    out += table.of_points ? fmt::format(R"(<tr id="row-{}">)", row + 1) : "<tr>";
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
      const analysis::Cell& cell = table.rows[row][k];
      const ColumnKind kind = table.columns[k].kind;
      out += kind == ColumnKind::number     ? R"(<td class="n")"
             : kind == ColumnKind::sentence ? R"(<td class="w")"
                                            : "<td";
      out += cell.number ? fmt::format(R"( data-v="{}">)", *cell.number) : ">";
      out += linked(cell.text, cell.row) + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
}

void write(std::string& out, const Figure& figure) {
  // Maps are taller than charts; scaled so that two fit on a printed page.
  out += std::holds_alternative<HeatMap>(figure.chart.picture) ? R"(<figure class="map">)" : "<figure>";
  out += to_svg(figure.chart, figure.id, Placement::embedded);
  out += R"(<div class="said" aria-live="polite"></div>)";
  out += "<figcaption>" + markup(figure.chart.title + ". " + figure.caption) + "</figcaption></figure>\n";
}

}  // namespace

std::string to_html(const Document& document) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"" + markup(text(msg::language::code{})) + "\"><head><meta charset=\"utf-8\">\n";
  out += R"(<meta name="viewport" content="width=device-width,initial-scale=1">)"
         "\n";
  // Blocks network requests even if texts contain HTML.
  out +=
      R"(<meta http-equiv="Content-Security-Policy" content="default-src 'none';style-src 'unsafe-inline';script-src 'unsafe-inline'">)"
      "\n";
  out += fmt::format(
      "<title>{}</title>\n<style>:root{{color-scheme:light dark;{}}}@media screen and "
      "(prefers-color-scheme:dark){{:root{{{}}}}}{}{}",
      markup(document.title), style::css_properties(false), style::css_properties(true), page_style, chart_style());
  // Browsers that support margin boxes print a running header and page numbers.
  out += fmt::format(
      "@page{{@top-left{{content:\"{}\";font-size:8pt}}@bottom-right{{content:counter(page) \" / \" "
      "counter(pages);font-size:8pt}}}}",
      css_string(document.title));
  out += "</style></head>\n<body>\n<header><h1>" + markup(document.title) + "</h1>\n<p>" + markup(document.subtitle) +
         "</p>\n";
  out += "</header>\n<main>\n";
  for (const Block& block : document.answer) std::visit([&](const auto& each) { write(out, each); }, block);
  for (const Figure& figure : document.figures) write(out, figure);
  const bool few = std::ranges::all_of(document.appendix,
                                       [](const Table& table) { return table.rows.size() <= max_expanded_points; });
  out += fmt::format(R"(<details id="appendix"{}><summary>{}</summary>)", few ? " open" : "",
                     markup(text(msg::report::appendix{})));
  for (const Table& table : document.appendix) write(out, table);
  out += "</details>\n";
  out += "</main>\n<footer>" + markup(document.version) + "</footer>\n<script>" + std::string(script) +
         "</script>\n</body></html>\n";
  return out;
}

}  // namespace attnscope::report
