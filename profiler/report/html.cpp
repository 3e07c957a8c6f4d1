// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "messages/compare.h"
#include "messages/language.h"
#include "messages/report.h"
#include "profiler/plan/text.h"
#include "profiler/report/document.h"

namespace attnscope::report {
namespace {

constexpr std::string_view page_style = R"css(
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem 1.2rem 3rem;max-width:66rem;background:var(--surface);color:var(--ink);font:15px/1.5 system-ui,'Segoe UI','DejaVu Sans',sans-serif}
header{display:flex;justify-content:space-between;align-items:baseline;gap:1rem}
h1{margin:.2rem 0;font-size:1.45rem}h2{margin:1.6rem 0 .3rem;font-size:1.1rem}
a{color:var(--accent)}p{margin:.45rem 0}.answer{font-size:1.05rem}.date{white-space:nowrap}.date,.measured,li{color:var(--muted)}.measured{font-size:.88rem;margin:.2rem 0}
figure{margin:.6rem 0}figcaption,.caption{font-size:.88rem;padding:.3rem 0}
svg{display:block;width:100%;height:auto}figure svg:focus-visible{outline:2px solid var(--accent)}
.said{min-height:1.4em;font-size:.88rem;font-variant-numeric:tabular-nums}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid var(--grid);padding:.18rem .5rem;text-align:left;vertical-align:top}.n{text-align:right}
td.n,main>.wide td{white-space:nowrap}td.w{min-width:9rem}
.better,.worse{font-weight:600}.better{color:var(--faster)}.worse{color:var(--slower)}.open{border:1px solid var(--muted);border-radius:3px;padding:0 .25em;display:inline-block}
summary{cursor:pointer;margin-top:1.6rem}
details .wide{width:calc(100vw - 3.4rem);margin-left:calc(50% - 50vw + 1.7rem)}details table{font-size:.75rem}
details td,details th{padding:.12rem .35rem}details td.n{white-space:normal}#points td.n{white-space:nowrap}#runs td{min-width:4.2rem}details td.w{min-width:8rem}details td.w,#runs td{overflow-wrap:anywhere}
th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid var(--accent)}
th[aria-sort=ascending] button::after{content:" ▲"}th[aria-sort=descending] button::after{content:" ▼"}
tr:target{outline:2px solid var(--accent)}footer{margin-top:2rem;font-size:.82rem;color:var(--muted)}
@page{size:A4;margin:15mm;@bottom-right{content:counter(page) " / " counter(pages);font:8pt sans-serif}}
@media print{details,.said,th button::after{display:none}body{max-width:none;padding:0;font-size:10pt;line-height:1.35}p{margin:1mm 0}
h1{font-size:15pt}h2{font-size:11pt;margin:5mm 0 1mm;break-after:avoid}.answer{font-size:10pt}
figure{break-inside:avoid;margin:2mm 0}figcaption,.caption,.measured,footer,table{font-size:8pt}.caption{break-after:avoid;margin:1mm 0}footer{margin-top:4mm}
td{min-width:0}td.w{min-width:0}main>.wide td{white-space:normal}main>.wide td.n{white-space:nowrap}th,td{padding:.3mm .8mm}tr{break-inside:avoid}thead{display:table-header-group;break-inside:avoid}
th button{display:contents}a{color:inherit;text-decoration:none}}
)css";

// Read-outs on hover and arrow keys, and sortable tables. Inserts text nodes only.
constexpr std::string_view script = R"js(
(function(){'use strict';
document.querySelectorAll('figure svg').forEach(function(svg){
var said=svg.parentNode.querySelector('.said');
var marks=Array.prototype.slice.call(svg.querySelectorAll('.m')),at=-1;
marks.forEach(function(m){var t=m.querySelector('title');m.said=t?t.textContent:'';if(t)m.removeChild(t)});
function show(k){if(at>=0)marks[at].classList.remove('on');at=k;if(k<0){said.textContent='';return}
marks[k].classList.add('on');said.textContent=marks[k].said}
svg.addEventListener('mouseover',function(e){var m=e.target.closest('.m');if(m)show(marks.indexOf(m))});
svg.addEventListener('keydown',function(e){var n=marks.length,k=at;if(!n)return;
if(e.key==='ArrowRight'||e.key==='ArrowDown')k=Math.min(n-1,at+1);else if(e.key==='ArrowLeft'||e.key==='ArrowUp')k=Math.max(0,at-1);
else if(e.key==='Home')k=0;else if(e.key==='End')k=n-1;else if(e.key==='Escape')k=-1;else return;e.preventDefault();show(k)});
svg.setAttribute('tabindex','0')});
document.addEventListener('click',function(e){var a=e.target.closest('a[href^="#row-"]');if(a)document.getElementById('appendix').open=true});
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

std::string linked(const std::string& words, std::optional<analysis::Row> row) {
  return row ? fmt::format(R"(<a href="#row-{}">{}</a>)", static_cast<std::size_t>(*row) + 1, markup(words))
             : markup(words);
}

void write(std::string& out, const Paragraph& paragraph, std::string_view tag = "<p>") {
  out += tag;
  for (const LinkedText& words : paragraph.words) out += linked(words.text, words.row);
  out += "</p>\n";
}

std::string cell_of(const TableCell& cell, const analysis::Column& column) {
  // In the order of ColumnKind and Tone.
  static constexpr std::array<std::string_view, 3> starts{"<td", R"(<td class="n")", R"(<td class="w")"};
  static constexpr std::array<std::string_view, 5> tones{"", "open", "", "better", "worse"};
  std::string out(starts.at(static_cast<std::size_t>(column.kind)));
  out += cell.number ? fmt::format(R"( data-v="{}">)", *cell.number) : ">";
  const std::string_view tone = tones.at(static_cast<std::size_t>(cell.tone));
  std::string words = linked(cell.text, cell.row);
  // A verdict is below its interval.
  if (const std::size_t end = words.find("] "); end != std::string::npos) words.insert(end + 2, "<br>");
  out += tone.empty() ? words : fmt::format(R"(<span class="{}">{}</span>)", tone, words);
  return out + "</td>";
}

void write(std::string& out, const Table& table) {
  // A caption element would be no wider than a narrow table.
  out += fmt::format(
      R"(<p class="caption" id="{0}-caption">{1}</p><div class="wide"><table id="{0}" aria-labelledby="{0}-caption"><thead><tr>)",
      table.key, markup(table.caption));
  for (const analysis::Column& column : table.columns) {
    out += fmt::format(R"(<th scope="col"{}>{}</th>)",
                       column.kind == analysis::ColumnKind::number ? R"( class="n")" : "", markup(column.title));
  }
  out += "</tr></thead><tbody>\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    out += table.of_points ? fmt::format(R"(<tr id="row-{}">)", row + 1) : "<tr>";
    for (std::size_t k = 0; k < table.columns.size(); ++k) out += cell_of(table.rows[row][k], table.columns[k]);
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
}

void write(std::string& out, const Figure& figure) {
  out += "<figure>" + to_svg(figure, Placement::embedded);
  out += R"(<div class="said" aria-live="polite"></div>)";
  out += "<figcaption>" + markup(fmt::format("{}. {}", figure.title, figure.caption)) + "</figcaption></figure>\n";
}

void write(std::string& out, const Section& section) {
  out += "<section><h2>" + markup(section.title) + "</h2>\n";
  if (section.figure) write(out, *section.figure);
  for (const Paragraph& paragraph : section.text) write(out, paragraph);
  out += "</section>\n";
}

/// Moves columns with one text in all rows to the caption, so that the others fit on a page; drops empty ones.
Table factored(Table table) {
  std::string common;
  for (std::size_t k = table.columns.size(); table.rows.size() > 1 && k-- > 0;) {
    const std::string words = table.rows.front()[k].text;
    const auto same = [&](const std::vector<TableCell>& row) { return row[k].text == words; };
    if (!std::ranges::all_of(table.rows, same)) continue;
    if (!words.empty())
      common = fmt::format("{} {}{}{}", table.columns[k].title, words, common.empty() ? "" : "; ", common);
    const auto place = static_cast<std::ptrdiff_t>(k);
    table.columns.erase(table.columns.begin() + place);
    for (std::vector<TableCell>& row : table.rows) row.erase(row.begin() + place);
  }
  if (!common.empty()) table.caption += ". " + text(msg::compare::all_rows{.settings = common});
  return table;
}

void write_appendix(std::string& out, const Document& document) {
  out += fmt::format(R"(<details id="appendix"><summary>{}</summary>)", markup(text(msg::report::appendix{})));
  for (const Table& table : document.appendix) write(out, table.of_points ? table : factored(table));
  out += "<h2>" + markup(text(msg::report::page_notes{})) + "</h2>\n<ul>\n";
  for (const std::string& note : document.notes) out += "<li>" + markup(note) + "</li>\n";
  out += "</ul>\n</details>\n";
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
  out += "</style></head>\n<body>\n<header><h1>" + markup(document.title) + "</h1><span class=\"date\">" +
         markup(document.date) + "</span></header>\n<main>\n";
  write(out, document.answer, R"(<p class="answer">)");
  if (document.figure) write(out, *document.figure);
  if (document.table) write(out, *document.table);
  for (const std::string& line : document.measured) out += R"(<p class="measured">)" + markup(line) + "</p>\n";
  for (const Section& section : document.sections) write(out, section);
  write_appendix(out, document);
  out += "</main>\n<footer>" + markup(document.version) + "</footer>\n<script>" + std::string(script) +
         "</script>\n</body></html>\n";
  return out;
}

}  // namespace attnscope::report
