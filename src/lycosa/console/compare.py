"""The lab's results and repeated experiments as pages, with curves to look into."""

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from lycosa.console.api import ApiRoute
from lycosa.console.reports import Report, Summary, image, list_reports, read_report
from lycosa.console.site import render, site


def all_reports(request: Request) -> list[Summary]:
    return list_reports(site(request).folders)


def one_report(request: Request) -> Report:
    return read_report(site(request).folders, request.path_params["report"])


def show_reports(request: Request) -> Response:
    return render(request, "compare.html", view="compare", reports=all_reports(request))


def show_report(request: Request) -> Response:
    return render(request, "report.html", view="compare", found=one_report(request))


def show_image(request: Request) -> Response:
    path = image(site(request).folders, request.path_params["report"], request.path_params["file"])
    return FileResponse(path, media_type="image/png")


routes: list[BaseRoute] = [
    Route("/compare", show_reports, name="compare"),
    Route("/compare/{report}", show_report, name="report"),
    Route("/compare/{report}/{file}", show_image, name="report-image"),
    ApiRoute("GET", "/api/reports", all_reports, "The lab's reports: comparisons and repeated experiments."),
    ApiRoute("GET", "/api/reports/{report}", one_report, "One report with its curves."),
]
